// What the three roles share during one run.
import type { LRUCache } from 'lru-cache';
import type { PipelineConfig } from '../../config/config.ts';
import { stageLimitMs } from '../../pipeline/rules/stage-limit.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import type { Backend } from '../../vlm/backends.ts';
import { createBudget, type Budget } from '../../vlm/budget.ts';
import type { ModelBackends, Role } from '../../vlm/config-file.ts';
import { createImageSource, type ImageSource } from '../../vlm/image-encoding.ts';
import { createSession, type ModelAnswer, type Session, type TimeLimit } from '../../vlm/session.ts';
import type { QueryParser } from '../embedded/query/parse-query.ts';
import type { Examination, Reasoner, ReasonerContext } from '../reasoner.ts';

export interface VlmReasonerOptions {
  models: ModelBackends;
  /** Back ends by role, in the order in which they are tried. */
  chain: Record<Role, readonly Backend[]>;
  /** The configured back end of each role, or "embedded". */
  intended: Record<Role, string>;
  stageTimeouts: Pick<PipelineConfig['timeouts_ms'], Role>;
  registry: ToolRegistry;
  embedded: Reasoner;
  parser: QueryParser;
  cache: LRUCache<string, ModelAnswer<object>> | null;
}

export interface VlmContext extends ReasonerContext, VlmReasonerOptions {
  budget: Budget;
  session: Session;
  images: ImageSource;
  /** The executor's second opinion from the measurements, for the summarizer. */
  measured: Examination['distortion_analysis'];
}

/** Called with the back end that answered. */
export type OnAnswered = (answered: { backend: string; model: string }) => void;

export function createVlmContext(options: VlmReasonerOptions, context: ReasonerContext): VlmContext {
  const { models, chain, cache } = options;
  const budget = createBudget(models.limits);
  return {
    ...options,
    ...context,
    budget,
    session: createSession({ chain, settings: models, budget, backoff: models.backoff, cache, log: context.log }),
    images: createImageSource(context.image, context.reference, models.images),
    measured: null,
  };
}

/** Share of a stage's time that models may not use, so that the embedded reasoner can still answer. */
const RESERVE_SHARE = 0.2;
const MAX_RESERVE_MS = 2_000;
/** Without a fallback: enough to report which model was late before the stage itself times out. */
const REPORT_RESERVE_MS = 50;

export function limitTime(
  role: Role,
  signal: AbortSignal,
  { stageTimeouts, models, deadline }: Pick<VlmContext, 'stageTimeouts' | 'models' | 'deadline'>,
): TimeLimit {
  const followingMs = role === 'executor' ? stageTimeouts.summarizer : 0;
  const limitMs = stageLimitMs(stageTimeouts[role], followingMs, deadline.remaining());
  const maxReserveMs = models[role].degrade === 'none' ? REPORT_RESERVE_MS : MAX_RESERVE_MS;
  return { signal, until: performance.now() + limitMs - Math.min(maxReserveMs, limitMs * RESERVE_SHARE) };
}
