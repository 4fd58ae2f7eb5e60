// Asks models on behalf of one assessment: retries with backoff, then the next back end, within the deadline and the budget.
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { LRUCache } from 'lru-cache';
import { isInputError, ModelFailedError } from '../errors.ts';
import { attemptCall, isTimeUp, MIN_CALL_MS, type ModelAnswer, type TimeLimit } from './attempt.ts';
import { publicReason, recordFailure, type AttemptRecord } from './attempt-record.ts';
import type { Backend } from './backends.ts';
import type { Budget } from './budget.ts';
import { answerCacheKey, buildRequest, type ComposedPrompt } from './build-request.ts';
import type { Capabilities } from './client.ts';
import type { Role, RoleSettings } from './config-file.ts';
import {
  BudgetExceededError,
  InvalidReplyError,
  SpeculationSkippedError,
  VLMError,
  type ValidationFeedback,
} from './errors.ts';
import { backoffMs, type BackoffSettings } from './transport/backoff.ts';

export type { ModelAnswer, TimeLimit } from './attempt.ts';

export interface ModelQuery<T> {
  role: Role;
  /** The answer may not be needed: rejects with SpeculationSkippedError if the budget has no spare room. */
  speculative?: boolean;
  compose: (capabilities: Capabilities) => Promise<ComposedPrompt<T>>;
}

export interface SessionOptions {
  /** Back ends in the order in which they are asked. */
  chain: Record<Role, readonly Backend[]>;
  settings: Record<Role, RoleSettings>;
  budget: Budget;
  backoff: BackoffSettings;
  cache: LRUCache<string, ModelAnswer<object>> | null;
  log: FastifyBaseLogger;
  random?: () => number;
}

export interface Session {
  ask: <T extends object>(query: ModelQuery<T>, time: TimeLimit) => Promise<ModelAnswer<T>>;
  /** Failed attempts so far. */
  failures: () => readonly AttemptRecord[];
  cacheHits: () => number;
}

export function createSession(options: SessionOptions): Session {
  const failures: AttemptRecord[] = [];
  let cacheHits = 0;
  const context: SessionContext = {
    ...options,
    onFailure: (record) => failures.push(record),
    onCacheHit: () => (cacheHits += 1),
  };
  return {
    async ask(query, time) {
      const before = failures.length;
      const backends = options.chain[query.role];
      let lastError: unknown = null;
      for (const [index, backend] of backends.entries()) {
        const isLast = index === backends.length - 1;
        const result = await askBackend(backend, query, isLast ? time : takeFirstShare(time), context);
        if ('answer' in result) return result.answer;
        lastError = result.error;
        if (lastError instanceof BudgetExceededError) break;
      }
      throw buildFailure(lastError, failures.slice(before));
    },
    failures: () => failures,
    cacheHits: () => cacheHits,
  };
}

interface SessionContext extends SessionOptions {
  onFailure: (record: AttemptRecord) => void;
  onCacheHit: () => void;
}

/** Share of the time for a back end that has a fallback. */
const FIRST_SHARE = 0.6;
const takeFirstShare = ({ signal, until }: TimeLimit): TimeLimit => ({
  signal,
  until: performance.now() + (until - performance.now()) * FIRST_SHARE,
});

function buildFailure(lastError: unknown, attempts: readonly AttemptRecord[]): ModelFailedError {
  const isTimeout = lastError instanceof VLMError && lastError.kind === 'timeout';
  const last = attempts.at(-1);
  return new ModelFailedError(
    isTimeout ? 'IQA_MODEL_TIMEOUT' : 'IQA_MODEL_FAILED',
    last ? `${last.backend} gave no valid answer (${publicReason(lastError)})` : 'no back end can be asked',
    attempts.length,
  );
}

type Result<T> = { answer: ModelAnswer<T> } | { error: unknown };

async function askBackend<T extends object>(
  backend: Backend,
  query: ModelQuery<T>,
  time: TimeLimit,
  context: SessionContext,
): Promise<Result<T>> {
  const { role } = query;
  const { budget, cache, log } = context;
  const settings = context.settings[role];
  const composed = await query.compose(backend.capabilities);
  const key = answerCacheKey(role, backend, composed, settings);
  const cached = cache?.get(key) as ModelAnswer<T> | undefined;
  if (cached) {
    context.onCacheHit();
    log.debug({ role, backend: backend.name, task: composed.task }, 'Model answer from the cache');
    return { answer: cached };
  }
  if (query.speculative && !budget.hasRoomForSpeculation(backend, buildRequest(composed, backend, settings, null)))
    throw new SpeculationSkippedError('The budget has no room for a speculative call');
  // Before the first attempt: loading the SDK must not count as the provider's time.
  await backend.client.warmUp();
  let feedback: ValidationFeedback | null = null;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await attemptCall({ role, settings, backend, composed, feedback, time }, budget, log);
      cache?.set(key, answer);
      return { answer };
    } catch (thrown) {
      if (time.signal.aborted || isInputError(thrown)) throw thrown;
      const error = thrown instanceof InvalidReplyError ? thrown.cause : thrown;
      feedback = thrown instanceof InvalidReplyError ? thrown.feedback : null;
      context.onFailure(recordFailure(error, { role, backend: backend.name, attempt }, log));
      if (isLogprobsRefusal(error, backend)) {
        disableLogprobs(backend);
        return askBackend(backend, query, time, context);
      }
      const waitMs = planRetry(error, attempt, settings, time, context);
      if (waitMs === null) return { error };
      if (waitMs > 0) await delay(waitMs, undefined, { signal: time.signal });
    }
  }
}

/** The wait before the next attempt, or null if this back end is not asked again. */
function planRetry(
  error: unknown,
  attempt: number,
  { retry_attempts }: RoleSettings,
  time: TimeLimit,
  { backoff, random = Math.random }: SessionContext,
): number | null {
  if (error instanceof BudgetExceededError || isTimeUp(time) || attempt >= retry_attempts) return null;
  if (!(error instanceof VLMError)) return 0;
  if (error.retry === 'never') return null;
  if (error.retry === 'explained') return 0;
  const waitMs = backoffMs(attempt, backoff, error.retryAfterMs, random);
  // A provider that asks for a longer wait than there is time is left to the next back end.
  return performance.now() + waitMs + MIN_CALL_MS > time.until ? null : waitMs;
}

/** Some models of a provider refuse requests for log-probabilities. */
const isLogprobsRefusal = (error: unknown, { capabilities }: Backend): boolean =>
  error instanceof VLMError &&
  error.kind === 'bad_request' &&
  /log.?prob/i.test(error.providerSays ?? '') &&
  capabilities.logprobs > 0;

/** For all later requests too: back ends are shared. */
function disableLogprobs(backend: Backend): void {
  backend.capabilities = { ...backend.capabilities, logprobs: 0 };
}
