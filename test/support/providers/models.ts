// Back ends and sessions for tests: the shipped configuration, the provider double behind it, and no long waits.
import { LRUCache } from 'lru-cache';
import Type from 'typebox';
import { explain } from '../../../schemas/validation/explain.ts';
import { ValidationError } from '../../../schemas/validation/model.ts';
import { loadConfig, type Config } from '../../../src/config/config.ts';
import { createBackends, type Backend } from '../../../src/vlm/backends.ts';
import { createBudget, type Limits } from '../../../src/vlm/budget.ts';
import type { VLMRequest } from '../../../src/vlm/client.ts';
import type { ModelBackends, RoleSettings } from '../../../src/vlm/config-file.ts';
import { createSession, type ModelAnswer, type ModelQuery, type SessionOptions } from '../../../src/vlm/session.ts';
import { captureLog } from '../app.ts';

/** The shipped file with waits short enough for tests, and whatever else a test changes. */
export function quickModels(
  { models }: Config,
  changes: Partial<ModelBackends> = {},
  role: Partial<RoleSettings> = {},
): ModelBackends {
  return {
    ...models,
    backoff: { first: 4, longest: 16 },
    planner: { ...models.planner, ...role },
    executor: { ...models.executor, ...role },
    summarizer: { ...models.summarizer, ...role },
    ...changes,
  };
}

/** For buildTestApp. */
export const withModels =
  (changes: Partial<ModelBackends> = {}, role: Partial<RoleSettings> = {}) =>
  (config: Config): Config => ({ ...config, models: quickModels(config, changes, role) });

export function backendsFor(environment: Record<string, string>, ...names: string[]): Backend[] {
  const backends = createBackends(loadConfig(environment));
  return names.map((name) => {
    const found = backends.resolve(name);
    if (!found || !('client' in found)) throw new Error(`${name} cannot be used`);
    return found;
  });
}

export const SIMPLE_REQUEST: VLMRequest = {
  system: 'You answer.',
  turns: [{ role: 'user', text: 'What is it?' }],
  images: [],
  temperature: 0,
  topP: 0.1,
  maxTokens: 100,
  logprobs: 0,
  schema: {
    name: 'simple',
    document: {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
      additionalProperties: false,
    },
  },
};

const Answer = Type.Object({ answer: Type.Enum(['yes', 'no']) });

/** A question to which only yes and no are valid answers. */
export const YES_OR_NO: ModelQuery<{ answer: string }> = {
  role: 'planner',
  compose: async () => ({
    task: 'yes_or_no',
    promptVersion: '1',
    system: 'You answer.',
    prompt: 'Is it?',
    images: [],
    schema: Answer,
    logprobs: false,
    read: (value) => {
      const issues = explain(Answer, value);
      if (issues.length > 0) throw new ValidationError('answer', issues);
      return value as { answer: string };
    },
  }),
};

export interface TestSession extends Partial<Omit<SessionOptions, 'settings' | 'budget' | 'chain'>> {
  chain: readonly Backend[];
  limits?: Limits;
  role?: Partial<RoleSettings>;
}

/** Of a call and of a question: no test waits for it, and no slow machine fails by it. */
const PATIENCE_MS = 30_000;

export function sessionFor({
  chain,
  limits = { max_calls: 12, max_cost_usd: null },
  role = {},
  ...options
}: TestSession) {
  const { log, logs } = captureLog();
  const settings = quickModels(loadConfig({}), {}, { retry_attempts: 3, timeout: PATIENCE_MS, ...role });
  const budget = createBudget(limits);
  const session = createSession({
    chain: { planner: chain, executor: chain, summarizer: chain },
    settings,
    budget,
    backoff: settings.backoff,
    cache: null,
    log,
    random: () => 0.5,
    ...options,
  });
  const ask = (withinMs = PATIENCE_MS, question = YES_OR_NO, signal = new AbortController().signal) =>
    session.ask(question, { signal, until: performance.now() + withinMs });
  return { session, ask, budget, logs };
}

export const newCache = () => new LRUCache<string, ModelAnswer<object>>({ max: 10 });
