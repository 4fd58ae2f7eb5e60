// One assessment's talk with its models: validate → retry → fall back, inside the deadline and the budget. The only place that retries.
import { setTimeout as delay } from 'node:timers/promises';
import type { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { ValidationError } from '../../schemas/validation/model.ts';
import { PlannerError } from '../../schemas/pipeline/planner-error.ts';
import { isAbort, publicMessage } from '../errors.ts';
import type { Backend } from './backends.ts';
import { backoffMs, type BackoffSettings } from './transport/backoff.ts';
import type { Budget } from './budget.ts';
import type { Capabilities, VLMReply } from './client.ts';
import { cacheKey, requestOf, type Complaint, type Composed } from './build-request.ts';
import { extractJson } from './json-extraction.ts';
import type { Role, RoleSettings } from './config-file.ts';
import { ModelFailure, type AttemptRecord } from './model-failure.ts';
import { VLMError, type VLMErrorKind } from './errors.ts';

export interface Question<T> {
  role: Role;
  /** It may turn out that nobody wants the answer: asked only while the budget has room to spare; rejects with NoRoom otherwise. */
  isAhead?: boolean;
  compose: (capabilities: Capabilities) => Promise<Composed<T>>;
}

export interface Answered<T> {
  value: T;
  backend: string;
  model: string;
}

export interface TimeLimit {
  signal: AbortSignal;
  /** On the clock of performance.now(). */
  until: number;
}

export interface SessionOptions {
  /** In the order in which they are asked. */
  chain: Record<Role, readonly Backend[]>;
  settings: Record<Role, RoleSettings>;
  budget: Budget;
  backoff: BackoffSettings;
  cache: LRUCache<string, Answered<object>> | null;
  log: Logger;
  random?: () => number;
}

export interface Session {
  ask: <T extends object>(question: Question<T>, time: TimeLimit) => Promise<Answered<T>>;
  /** Attempts that failed so far. */
  failures: () => readonly AttemptRecord[];
  cacheHits: () => number;
}

/** What the first back end may use of the time, so that its fallback is not asked too late. */
const FIRST_SHARE = 0.6;
const shareOf = ({ signal, until }: TimeLimit): TimeLimit => ({
  signal,
  until: performance.now() + (until - performance.now()) * FIRST_SHARE,
});
/** Less than this is not worth a call. */
const SHORTEST_CALL_MS = 20;
const MAX_QUOTED_REPLY = 4_000;
/** What the circuit breaker counts. */
const OUTAGES: readonly VLMErrorKind[] = ['authentication', 'unavailable', 'network', 'timeout'];

export function createSession(options: SessionOptions): Session {
  const { chain, settings, budget, cache, log, random = Math.random } = options;
  const failures: AttemptRecord[] = [];
  let cacheHits = 0;

  async function ask<T extends object>(question: Question<T>, time: TimeLimit): Promise<Answered<T>> {
    const before = failures.length;
    let last: unknown = null;
    const backends = chain[question.role];
    for (const [index, backend] of backends.entries()) {
      const result = await askBackend(backend, question, index < backends.length - 1 ? shareOf(time) : time);
      if ('answer' in result) return result.answer;
      last = result.error;
      if (result.final) break;
    }
    const mine = failures.slice(before);
    const isLate = last instanceof VLMError && last.kind === 'timeout';
    const message = mine.at(-1)
      ? `${mine.at(-1)?.backend ?? ''} gave no valid answer (${sentenceOf(last)})`
      : 'no back end can be asked';
    throw new ModelFailure(isLate ? 'IQA_MODEL_TIMEOUT' : 'IQA_MODEL_FAILED', message, mine);
  }

  type Result<T> = { answer: Answered<T> } | { error: unknown; final: boolean };

  async function askBackend<T extends object>(
    backend: Backend,
    { role, compose, isAhead = false }: Question<T>,
    time: TimeLimit,
  ): Promise<Result<T>> {
    const composed = await compose(backend.capabilities);
    const key = cacheKey(role, backend, composed, settings[role]);
    const known = cache?.get(key) as Answered<T> | undefined;
    if (known) {
      cacheHits += 1;
      log.debug({ role, backend: backend.name, task: composed.task }, 'Model answer from the cache');
      return { answer: known };
    }
    if (isAhead && !budget.hasRoomToSpare(backend, requestOf(composed, backend, settings[role], null)))
      throw new NoRoom('The budget has no room for a call that may be in vain');
    // Loading an SDK is not the provider's fault: it must not count as its time.
    await backend.client.warmUp();
    let complaint: Complaint | null = null;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const value = await attemptOnce(backend, role, composed, complaint, time);
        cache?.set(key, value);
        return { answer: value };
      } catch (error) {
        if (time.signal.aborted || isCallersFault(error)) throw error;
        record(error, role, backend.name, attempt);
        const failed = error instanceof Unanswered ? error.cause : error;
        complaint = error instanceof Unanswered ? error.complaint : null;
        if (refusesLogprobs(failed, backend)) return askBackend(backend, { role, compose, isAhead }, time);
        if (failed instanceof OutOfBudget) return { error: failed, final: true };
        if (time.until - performance.now() < SHORTEST_CALL_MS) return { error: failed, final: false };
        if (attempt >= settings[role].retry_attempts || (failed instanceof VLMError && failed.retry === 'never'))
          return { error: failed, final: false };
        if (failed instanceof VLMError && failed.retry === 'later') {
          const wait = backoffMs(attempt, options.backoff, failed.retryAfterMs, random);
          // Whoever asks us to wait longer than there is time leaves it to the next back end.
          if (performance.now() + wait + SHORTEST_CALL_MS > time.until) return { error: failed, final: false };
          await delay(wait, undefined, { signal: time.signal });
        }
      }
    }
  }

  async function attemptOnce<T extends object>(
    backend: Backend,
    role: Role,
    composed: Composed<T>,
    complaint: Complaint | null,
    time: TimeLimit,
  ): Promise<Answered<T>> {
    if (time.until - performance.now() < SHORTEST_CALL_MS) throw new VLMError('timeout', 'No time is left for a call');
    const request = requestOf(composed, backend, settings[role], complaint);
    // Asked first: a call that is not made counts for nobody.
    if (!backend.breaker.admits())
      throw new VLMError('circuit_open', `${backend.name} failed repeatedly and is left alone for a while`);
    const reservation = budget.reserve(role, backend, request);
    if ('refused' in reservation) {
      backend.breaker.undecided();
      throw new OutOfBudget(reservation.refused);
    }
    const started = performance.now();
    const limit = Math.max(1, Math.min(settings[role].timeout, time.until - started));
    const timeout = AbortSignal.timeout(Math.ceil(limit));
    try {
      const reply = await backend.client.generate(request, AbortSignal.any([time.signal, timeout]));
      backend.breaker.succeeded();
      reservation.settle(reply.usage);
      log.debug(
        {
          role,
          backend: backend.name,
          task: composed.task,
          call_ms: Math.round(performance.now() - started),
          ...reply.usage,
        },
        'Model answered',
      );
      log.trace(
        { role, backend: backend.name, task: composed.task, prompt: request.turns, reply: reply.text },
        'Model conversation',
      );
      return { value: readReply(composed, reply, role), backend: backend.name, model: reply.model };
    } catch (error) {
      if (error instanceof Unanswered) throw error;
      const failed =
        timeout.aborted && !time.signal.aborted && isAbort(error)
          ? new VLMError('timeout', `No answer within ${Math.round(limit)} ms`)
          : error;
      reservation.release(failed instanceof VLMError && (failed.status ?? 0) >= 400);
      // A time-out that our own deadline forced says nothing about the back end.
      const isForced = failed instanceof VLMError && failed.kind === 'timeout' && limit < settings[role].timeout;
      if (failed instanceof VLMError && OUTAGES.includes(failed.kind) && !isForced) backend.breaker.failed();
      else backend.breaker.undecided();
      if (failed instanceof VLMError && failed.retry === 'explained')
        throw new Unanswered(failed, { reply: '', problem: failed.message });
      throw failed;
    }
  }

  function readReply<T>(composed: Composed<T>, reply: VLMReply, role: Role): T {
    const value = extractJson(reply.text);
    try {
      if (!value && !reply.complete)
        throw new VLMError('truncated', 'The answer was cut off at the token limit; answer more briefly');
      if (!value)
        throw new SyntaxError(
          reply.text.trim() === ''
            ? 'Expected a JSON object but received nothing'
            : 'Expected a JSON object but received text without one',
        );
      return composed.read(value, reply, (what) => {
        log.info({ role, task: composed.task, repaired: what }, 'Model answer repaired');
      });
    } catch (error) {
      if (!(error instanceof ValidationError || error instanceof SyntaxError || error instanceof VLMError)) throw error;
      const problem = error instanceof ValidationError ? tellIssues(error) : error.message;
      throw new Unanswered(error, { reply: reply.text.slice(0, MAX_QUOTED_REPLY), problem });
    }
  }

  function record(error: unknown, role: Role, backend: string, attempt: number): void {
    const failed = error instanceof Unanswered ? error.cause : error;
    const { error_type, timestamp } = PlannerError.fromException(failed, {
      attempt,
      backend,
      ...(role === 'planner' ? { log } : {}),
    });
    const entry = { role, attempt, backend, error_type, message: sentenceOf(failed), timestamp };
    failures.push(entry);
    const providerSays = failed instanceof VLMError ? failed.providerSays : undefined;
    log.warn({ model_error: entry, ...(providerSays ? { provider_says: providerSays } : {}) }, 'Model attempt failed');
  }

  return { ask, failures: () => failures, cacheHits: () => cacheHits };
}

/** What is wrong with an answer is said with its place in it ("/plan/tool_execution"), which is no path of ours to hide. */
const sentenceOf = (error: unknown): string =>
  error instanceof ValidationError ? `Invalid ${error.model}: ${tellIssues(error)}` : publicMessage(error);

/** Nobody reads more, neither a model nor a person; a long list that is wrong in every line would fill the next prompt. */
const MAX_ISSUES = 12;
const tellIssues = ({ issues }: ValidationError): string =>
  [
    ...issues.slice(0, MAX_ISSUES).map((found) => found.message),
    ...(issues.length > MAX_ISSUES ? [`and ${issues.length - MAX_ISSUES} more`] : []),
  ].join('; ');

/** The back end answered, but not what was asked. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
  override readonly cause: Error;
  readonly complaint: Complaint;

  constructor(cause: Error, complaint: Complaint) {
    super(cause.message);
    this.cause = cause;
    this.complaint = complaint;
  }
}

/** Some models of a provider give log-probabilities and some refuse the very question: such a one is not asked for them again. */
function refusesLogprobs(error: unknown, backend: Backend): boolean {
  const refuses =
    error instanceof VLMError &&
    error.kind === 'bad_request' &&
    /log.?prob/i.test(error.providerSays ?? '') &&
    backend.capabilities.logprobs > 0;
  if (refuses) backend.capabilities = { ...backend.capabilities, logprobs: 0 };
  return refuses;
}

/** A call ahead was not made at all. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';
}

class OutOfBudget extends Error {
  override readonly name = 'OutOfBudget';
}

/** A picture that cannot be read is the caller's to mend: no other model would see more. */
function isCallersFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('IQA_INPUT_');
}
