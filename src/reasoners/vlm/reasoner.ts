// The reasoner with a model behind it. The embedded reasoner stands beside it: plans what is plain, gives a second opinion, takes over when models fail.
import type { LRUCache } from 'lru-cache';
import { hash } from '../../../schemas/validation/model.ts';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import type { PipelineConfig } from '../../config/config.ts';
import { IqaError } from '../../errors.ts';
import { stageLimitMs } from '../../pipeline/stage.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import type { Backend } from '../../vlm/backends.ts';
import { createBudget } from '../../vlm/budget.ts';
import { EMBEDDED, ROLES, type ModelBackends, type Role } from '../../vlm/config-file.ts';
import { ModelFailure } from '../../vlm/model-failure.ts';
import { createPictureSource } from '../../vlm/image-encoding.ts';
import { createSession, type Answered, type Session, type TimeLimit } from '../../vlm/session.ts';
import type { Understanding } from '../embedded/query/parse-query.ts';
import type { Examination, Occasion, Reasoner, ReasonerSource, SummaryRequest } from '../reasoner.ts';
import { createAhead, type Ahead } from './speculation.ts';
import { examineWithModel } from './executor/role.ts';
import { EXECUTOR_PROMPT_VERSION } from './executor/prompts.ts';
import { PLANNER_PROMPT_VERSION } from './planner/prompt.ts';
import { planWithModel } from './planner/role.ts';
import { summarizeWithModel } from './summarizer/role.ts';
import { SUMMARIZER_PROMPT_VERSION } from './summarizer/prompts.ts';

export interface VLMReasonerOptions {
  models: ModelBackends;
  /** Back ends by role, in the order in which they are asked. */
  chain: Record<Role, readonly Backend[]>;
  /** Who is meant to do each role: the name of a back end, or "embedded". */
  intended: Record<Role, string>;
  stageTimeouts: Pick<PipelineConfig['timeouts_ms'], Role>;
  registry: ToolRegistry;
  embedded: Reasoner;
  understand: (query: string, choices: readonly string[]) => Understanding;
  cache: LRUCache<string, Answered<object>> | null;
}

/** What the three roles have in common during one assessment. */
export interface Workplace extends Pick<
  VLMReasonerOptions,
  'models' | 'registry' | 'embedded' | 'understand' | 'chain'
> {
  session: Session;
  pictures: ReturnType<typeof createPictureSource>;
  size: { width: number; height: number };
  ahead: Ahead;
  /** What one role leaves for a later one. */
  notes: { measured: Examination['distortion_analysis'] };
}

/** Tells which back end answered. */
export type Spoke = (speaker: { backend: string; model: string }) => void;

export const PROMPTS_VERSION = `planner.${PLANNER_PROMPT_VERSION}+executor.${EXECUTOR_PROMPT_VERSION}+summarizer.${SUMMARIZER_PROMPT_VERSION}`;

export function createVLMReasoner(options: VLMReasonerOptions): ReasonerSource {
  const { chain, intended, embedded } = options;
  const first = chain.summarizer[0] ?? chain.executor[0] ?? chain.planner[0];
  const source: ReasonerSource = {
    identity: first
      ? { kind: 'vlm', backend: first.name, model: first.model }
      : { kind: 'vlm', backend: intended.summarizer, model: null },
    version: `${PROMPTS_VERSION}+embedded.${embedded.version}+settings.${settingsDigest(options)}`,
    create: (occasion) => createForOccasion(options, source, occasion),
  };
  return source;
}

/** What an answer depends on beside prompts and pictures: the same digest stands for the same way of asking. */
function settingsDigest({
  models: { reasoning, planner_certain_from, pictures, planner, executor, summarizer },
  chain,
}: VLMReasonerOptions): string {
  const asked = ROLES.map((role) => chain[role].map(({ name, model }) => [name, model]));
  return hash([reasoning, planner_certain_from, pictures, planner, executor, summarizer, asked]).slice(0, 8);
}

function createForOccasion(options: VLMReasonerOptions, source: ReasonerSource, occasion: Occasion): Reasoner {
  const { models, chain, intended, embedded } = options;
  const budget = createBudget(models.limits);
  const session = createSession({
    chain,
    settings: models,
    budget,
    backoff: models.backoff,
    cache: options.cache,
    log: occasion.log,
  });
  const reasons = new Map<Role, string>();
  let { identity } = source;
  const ahead = createAhead({
    examine: ({ signal, ...work }) => examineWithModel({ ...work, workplace, time: timeFor('executor', signal) }),
    spoke: (speaker) => {
      noteFallback('executor', speaker);
    },
    signal: occasion.signal,
    log: occasion.log,
  });
  const workplace: Workplace = {
    ...options,
    session,
    size: occasion.image.info,
    notes: { measured: null },
    ahead,
    pictures: createPictureSource(occasion.image, occasion.reference, models.pictures),
  };
  const timeFor = (role: Role, signal: AbortSignal) => timeLimit(role, signal, options, occasion);
  const noteFallback = (role: Role, { backend }: { backend: string }): void => {
    if (backend !== intended[role]) reasons.set(role, `${role}: ${backend} answered in place of ${intended[role]}`);
  };

  /** The model's way, or the embedded one where no model is configured or all of them failed. */
  async function orEmbedded<T>(
    role: Role,
    byModel: () => Promise<T>,
    byRules: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    if (intended[role] === EMBEDDED) return byRules();
    try {
      return await byModel();
    } catch (error) {
      if (signal.aborted || !(error instanceof ModelFailure) || models[role].degrade === 'none') throw error;
      occasion.log.warn({ role, reason: error.message }, 'The embedded reasoner takes over');
      reasons.set(role, `${role}: the embedded reasoner answered because ${error.message}`);
      return byRules();
    }
  }

  return {
    get identity() {
      return identity;
    },
    version: source.version,
    seesPixels: true,
    speculates: models.speculation,
    // It has seen the picture and says itself where.
    locates: () => false,
    thinkingMs: SHORTEST_THINKING_MS,
    async plan(request, signal) {
      let decided: PlannerOutput | null = null;
      try {
        const proposal = await orEmbedded(
          'planner',
          () =>
            planWithModel(request, workplace, timeFor('planner', signal), (spoke) => {
              noteFallback('planner', spoke);
            }),
          () => embedded.plan(request, signal),
          signal,
        );
        decided = proposal.output;
        return proposal;
      } finally {
        ahead.decide(decided);
      }
    },
    async examine(request, signal) {
      // Beside the model, from the measurements: what is left if the model fails.
      const instead = embedded.examine(request, signal);
      instead.catch(() => undefined);
      return orEmbedded(
        'executor',
        () => ahead.examine(request, signal),
        () => instead,
        signal,
      );
    },
    summarize: (request, signal) =>
      orEmbedded(
        'summarizer',
        () =>
          summarizeWithModel(request, workplace, timeFor('summarizer', signal), (spoke) => {
            identity = { kind: 'vlm', ...spoke };
            noteFallback('summarizer', spoke);
          }),
        async () => {
          if (intended.summarizer !== EMBEDDED) identity = embedded.identity;
          return embedded.summarize(withEvidence(request), signal);
        },
        signal,
      ),
    report: () => ({
      usage: { ...budget.usage(), cache_hits: session.cacheHits(), failed_attempts: [...session.failures()] },
      degraded: reasons.size === 0 ? null : [...reasons.values()].join('; '),
    }),
  };
}

/** No provider answers about a picture in less; their fastest models take about a second. */
const SHORTEST_THINKING_MS = 300;

/** Kept back from the models so that the embedded reasoner can still answer in time. */
const RESERVE_SHARE = 0.2;
const LONGEST_RESERVE_MS = 2_000;
/** With nobody to take over: enough to say which model was late before the stage itself is cut off. */
const LAST_WORDS_MS = 50;

function timeLimit(
  role: Role,
  signal: AbortSignal,
  { stageTimeouts, models }: VLMReasonerOptions,
  { deadline }: Occasion,
): TimeLimit {
  const limit = stageLimitMs(
    stageTimeouts[role],
    role === 'executor' ? stageTimeouts.summarizer : 0,
    deadline.remaining(),
  );
  const reserve =
    models[role].degrade === 'none'
      ? Math.min(LAST_WORDS_MS, limit * RESERVE_SHARE)
      : Math.min(LONGEST_RESERVE_MS, limit * RESERVE_SHARE);
  return { signal, until: performance.now() + limit - reserve };
}

/** With neither a model nor a measurement there is nothing to answer from, and an empty answer would hide that. */
function withEvidence(request: SummaryRequest): SummaryRequest {
  const { distortion_analysis, quality_scores } = request.evidence;
  if (request.plan.query_type === 'IQA' && distortion_analysis === null && quality_scores === null) {
    throw new IqaError('IQA_MODEL_FAILED', 'No model answered and nothing could be measured');
  }
  return request;
}
