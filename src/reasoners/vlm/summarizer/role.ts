// The summarizer role with a model: the answer in the requested form, and the probabilities of the five levels for the fusion.
import type { QualityScore } from '../../../../schemas/responses/assessment.ts';
import { GLOBAL, type Level } from '../../../../schemas/vocabulary.ts';
import { listScores } from '../../../pipeline/rules/fusion.ts';
import { formatGap } from '../../../pipeline/rules/gaps.ts';
import { formatUngrounded } from '../../../pipeline/rules/scope.ts';
import {
  levelsFromClassification,
  levelsFromDeclaration,
  levelsFromLogprobs,
} from '../../../vlm/level-probabilities.ts';
import type { TimeLimit } from '../../../vlm/session.ts';
import { MIN_TRUSTED_CONFIDENCE } from '../../embedded/query/parse-query.ts';
import type { OwnProbabilities, Summary, SummaryRequest } from '../../reasoner.ts';
import type { OnAnswered, VlmContext } from '../context.ts';
import { selectImages } from '../select-images.ts';
import { SUMMARIZER_PROMPT_VERSION, summarizerPrompt, summarizerSystem, type AnswerMode } from './prompts.ts';
import { readSummary, summarySchema, type SummaryReply } from './reply.ts';

interface Answer {
  reply: SummaryReply;
  own: OwnProbabilities | null;
}

export async function summarizeWithModel(
  request: SummaryRequest,
  context: VlmContext,
  time: TimeLimit,
  onAnswered: OnAnswered,
): Promise<Summary> {
  const { mode, options } = chooseMode(request, context);
  const {
    backend,
    model,
    value: { reply, own },
  } = await context.session.ask<Answer>(
    {
      role: 'summarizer',
      compose: async (capabilities) => {
        const wantsLogprobs = mode === 'scoring' && capabilities.logprobs > 0;
        const form = { mode, options, declaresProbabilities: mode === 'scoring' && !wantsLogprobs };
        const schema = summarySchema(form);
        return {
          task: `summarizer_${mode}`,
          promptVersion: SUMMARIZER_PROMPT_VERSION,
          system: summarizerSystem(mode, form.declaresProbabilities),
          prompt: summarizerPrompt({
            query: request.question.query,
            options,
            evidence: describeEvidence(request, context.measured),
          }),
          images: await selectImages(
            [GLOBAL, ...request.regions.map(({ name }) => name)],
            request.regions,
            capabilities,
            context,
          ),
          schema,
          logprobs: wantsLogprobs,
          read: (value, { tokens }, onRepair) => {
            const summary = readSummary(value, schema, form, onRepair);
            return {
              reply: summary,
              own:
                mode === 'scoring'
                  ? chooseProbabilities(summary, levelsFromLogprobs(tokens, 'final_answer', value['final_answer']))
                  : null,
            };
          },
        };
      },
    },
    time,
  );
  onAnswered({ backend, model });
  const score = request.fuse(own);
  return { score, output: buildOutput(reply, mode, score, request), replan: buildReplanRequest(reply, request) };
}

/** Words that ask for a rating, even if the rest of the query was not understood. */
const ASKS_FOR_RATING = /\b(rate|rating|score|grade|how (good|bad)|(overall|image|picture|photo) quality)\b/i;

function chooseMode({ question, plan }: SummaryRequest, { parser, models }: VlmContext) {
  const { form, options, confidence } = parser.parseQuestion(question);
  const isSure =
    confidence >= models.planner_certain_from ||
    (confidence >= MIN_TRUSTED_CONFIDENCE && ASKS_FOR_RATING.test(question.query));
  const isScoring = form === 'scoring' && isSure && plan.query_type === 'IQA';
  const mode: AnswerMode = options.length > 0 ? 'multiple_choice' : isScoring ? 'scoring' : 'explanation';
  return { mode, options };
}

/** From the best source available: token probabilities, declared probabilities, or the level alone. */
function chooseProbabilities(
  reply: SummaryReply,
  fromTokens: OwnProbabilities['probabilities'] | null,
): OwnProbabilities {
  if (fromTokens) return { probabilities: fromTokens, method: 'logprobs' };
  const declared = levelsFromDeclaration(reply.probabilities);
  if (declared) return { probabilities: declared, method: 'declared' };
  return { probabilities: levelsFromClassification(reply.final_answer as Level), method: 'classification' };
}

function buildOutput(
  reply: SummaryReply,
  mode: AnswerMode,
  score: QualityScore | null,
  { evidence, ungrounded }: SummaryRequest,
): Summary['output'] {
  const level = mode === 'scoring' ? (score?.level ?? reply.final_answer) : null;
  return {
    final_answer: level ?? reply.final_answer,
    quality_reasoning: [
      reply.quality_reasoning,
      // Score and level may differ from the model's own level only with an explanation.
      level !== null && level !== reply.final_answer
        ? `The model alone says ${reply.final_answer.toLowerCase()}; together with the tools the level is ${level.toLowerCase()}.`
        : null,
      ungrounded.length > 0 ? formatUngrounded(ungrounded) : null,
    ]
      .filter((sentence) => sentence !== null)
      .join(' '),
    used_evidence: {
      distortion_analysis: Object.entries(evidence.distortion_analysis ?? {}).flatMap(([object, items]) =>
        items.map(({ type, severity }) => ({ object, type, severity })),
      ),
      quality_scores: listRoundedScores(evidence),
      quality_score: score?.value ?? null,
    },
  };
}

/** Without times, so that the same evidence makes the same prompt and hits the cache. */
function describeEvidence(
  { plan, evidence, gaps, ungrounded }: SummaryRequest,
  measured: VlmContext['measured'],
): Record<string, unknown> {
  const failed = evidence.tool_logs.filter((log) => log.error !== null);
  return {
    query_type: plan.query_type,
    scope: plan.query_scope,
    reference_mode: plan.reference_mode,
    distortion_analysis: evidence.distortion_analysis,
    tool_scores: listRoundedScores(evidence),
    ...(measured ? { measured } : {}),
    ...(failed.length > 0 ? { tools_that_failed: [...new Set(failed.map((log) => log.tool_name))] } : {}),
    ...(ungrounded.length > 0 ? { measured_on_the_whole_image_only: ungrounded } : {}),
    ...(gaps.length > 0 ? { missing: gaps.map(formatGap) } : {}),
  };
}

const listRoundedScores = (evidence: SummaryRequest['evidence']) =>
  listScores(evidence).map((entry) => ({ ...entry, score: Math.round(entry.score * 100) / 100 }));

/** The pipeline's gaps always ask for another round; the model may as well. */
function buildReplanRequest(reply: SummaryReply, { gaps }: SummaryRequest): Summary['replan'] {
  if (gaps.length === 0 && reply.need_replan !== true) return null;
  return { gaps, modelReason: reply.need_replan === true ? (reply.replan_reason ?? null) : null };
}
