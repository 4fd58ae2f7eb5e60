// The model-backed reasoner. The embedded reasoner plans clear queries, gives a second opinion, and takes over when models fail.
import { hash } from '../../../schemas/validation/hash.ts';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { IqaError } from '../../errors.ts';
import { EMBEDDED, ROLES } from '../../vlm/config-file.ts';
import type { Reasoner, ReasonerContext, ReasonerSource, SummaryRequest } from '../reasoner.ts';
import { createVlmContext, limitTime, type VlmContext, type VlmReasonerOptions } from './context.ts';
import { EXECUTOR_PROMPT_VERSION } from './executor/prompts.ts';
import { examineWithModel } from './executor/role.ts';
import { createFallback, type Fallback } from './fallback.ts';
import { PLANNER_PROMPT_VERSION } from './planner/prompt.ts';
import { planWithModel } from './planner/role.ts';
import { createSpeculation, type Speculation } from './speculation.ts';
import { SUMMARIZER_PROMPT_VERSION } from './summarizer/prompts.ts';
import { summarizeWithModel } from './summarizer/role.ts';

const PROMPTS_VERSION = `planner.${PLANNER_PROMPT_VERSION}+executor.${EXECUTOR_PROMPT_VERSION}+summarizer.${SUMMARIZER_PROMPT_VERSION}`;

/** No provider answers about an image faster; their fastest models take about a second. */
const MIN_LATENCY_MS = 300;

export function createVlmReasoner(options: VlmReasonerOptions): ReasonerSource {
  const { chain, intended, embedded } = options;
  const first = chain.summarizer[0] ?? chain.executor[0] ?? chain.planner[0];
  const source: ReasonerSource = {
    identity: first
      ? { kind: 'vlm', backend: first.name, model: first.model }
      : { kind: 'vlm', backend: intended.summarizer, model: null },
    version: `${PROMPTS_VERSION}+embedded.${embedded.version}+settings.${digestSettings(options)}`,
    create: (context) => createRunReasoner(options, source, context),
  };
  return source;
}

/** Covers all that an answer depends on besides prompts and images. */
function digestSettings({
  models: { reasoning, planner_certain_from, images: imageSettings, planner, executor, summarizer },
  chain,
}: VlmReasonerOptions): string {
  const backends = ROLES.map((role) => chain[role].map(({ name, model }) => [name, model]));
  return hash([reasoning, planner_certain_from, imageSettings, planner, executor, summarizer, backends]).slice(0, 8);
}

function createRunReasoner(options: VlmReasonerOptions, source: ReasonerSource, runContext: ReasonerContext): Reasoner {
  const { models, intended } = options;
  const context = createVlmContext(options, runContext);
  const fallback = createFallback(intended, models, context.log);
  const speculation = createSpeculation({
    examine: ({ signal, ...task }) =>
      examineWithModel({ ...task, context, time: limitTime('executor', signal, context) }),
    onAnswered: (answered) => {
      fallback.noteAnswered('executor', answered);
    },
    signal: context.signal,
    log: context.log,
  });
  let { identity } = source;
  return {
    get identity() {
      return identity;
    },
    version: source.version,
    hasVision: true,
    allowsPrefetch: models.speculation,
    // The model sees the image and says itself where.
    needsLocalization: () => false,
    minLatencyMs: MIN_LATENCY_MS,
    plan: createPlan(context, fallback, speculation),
    examine: createExamine(context, fallback, speculation),
    summarize: createSummarize(context, fallback, (answered) => {
      identity = answered;
    }),
    report: () => ({
      usage: {
        ...context.budget.usage(),
        cache_hits: context.session.cacheHits(),
        failed_attempts: [...context.session.failures()],
      },
      degraded: fallback.describe(),
    }),
  };
}

function createPlan(context: VlmContext, fallback: Fallback, speculation: Speculation): Reasoner['plan'] {
  return async (request, signal) => {
    let plan: PlannerOutput | null = null;
    try {
      const proposal = await fallback.run({
        role: 'planner',
        withModel: () =>
          planWithModel(request, context, speculation, limitTime('planner', signal, context), (answered) => {
            fallback.noteAnswered('planner', answered);
          }),
        withRules: () => context.embedded.plan(request, signal),
        signal,
      });
      plan = proposal.output;
      return proposal;
    } finally {
      speculation.resolve(plan);
    }
  };
}

function createExamine(context: VlmContext, fallback: Fallback, speculation: Speculation): Reasoner['examine'] {
  return async (request, signal) => {
    // Runs while the model does: its result is ready if the model fails.
    const withRules = context.embedded.examine(request, signal);
    withRules.catch(() => undefined);
    return fallback.run({
      role: 'executor',
      withModel: () => speculation.take(request, signal),
      withRules: () => withRules,
      signal,
    });
  };
}

function createSummarize(
  context: VlmContext,
  fallback: Fallback,
  setIdentity: (identity: Reasoner['identity']) => void,
): Reasoner['summarize'] {
  const { embedded, intended } = context;
  return (request, signal) =>
    fallback.run({
      role: 'summarizer',
      withModel: () =>
        summarizeWithModel(request, context, limitTime('summarizer', signal, context), (answered) => {
          setIdentity({ kind: 'vlm', ...answered });
          fallback.noteAnswered('summarizer', answered);
        }),
      withRules: async () => {
        if (intended.summarizer !== EMBEDDED) setIdentity(embedded.identity);
        assertEvidence(request);
        return embedded.summarize(request, signal);
      },
      signal,
    });
}

/** With neither a model nor a measurement there is nothing to answer from, and an empty answer would hide that. */
function assertEvidence({ plan, evidence }: SummaryRequest): void {
  const { distortion_analysis, quality_scores } = evidence;
  if (plan.query_type === 'IQA' && distortion_analysis === null && quality_scores === null)
    throw new IqaError('IQA_MODEL_FAILED', 'No model answered and nothing could be measured');
}
