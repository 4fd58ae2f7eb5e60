// Role 3 with a model: the answer in the form that was asked for, and the probabilities of the five levels for the fusion.
import type { QualityScore } from '../../../../schemas/responses/assessment.ts';
import { GLOBAL, type Level } from '../../../../schemas/vocabulary.ts';
import type { OwnProbabilities } from '../../../pipeline/rules/fusion.ts';
import {
  levelsFromClassification,
  levelsFromDeclaration,
  levelsFromLogprobs,
} from '../../../vlm/level-probabilities.ts';
import type { TimeLimit } from '../../../vlm/session.ts';
import { TRUSTED } from '../../embedded/query/parse-query.ts';
import type { Summary, SummaryRequest } from '../../reasoner.ts';
import { picturesFor } from '../executor/role.ts';
import type { Spoke, Workplace } from '../reasoner.ts';
import { SUMMARIZER_PROMPT_VERSION, summarizerPrompt, summarizerSystem, type AnswerMode } from './prompts.ts';
import { readSummary, summarySchema, type SummaryReply } from './reply.ts';

interface Answer {
  reply: SummaryReply;
  own: OwnProbabilities | null;
}

export async function summarizeWithModel(
  request: SummaryRequest,
  workplace: Workplace,
  time: TimeLimit,
  spoke: Spoke,
): Promise<Summary> {
  const { mode, options } = formOf(request, workplace);
  const {
    backend,
    model,
    value: { reply, own },
  } = await workplace.session.ask<Answer>(
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
            query: request.query,
            options,
            evidence: tellEvidence(request, workplace.notes.measured),
          }),
          pictures: await picturesFor(
            [GLOBAL, ...request.regions.map(({ name }) => name)],
            request.regions,
            capabilities,
            workplace,
          ),
          schema,
          logprobs: wantsLogprobs,
          read: (value, { tokens }, repaired) => {
            const summary = readSummary(value, schema, form, repaired);
            return {
              reply: summary,
              own:
                mode === 'scoring'
                  ? probabilitiesOf(summary, levelsFromLogprobs(tokens, 'final_answer', value['final_answer']))
                  : null,
            };
          },
        };
      },
    },
    time,
  );
  spoke({ backend, model });
  const score = request.fuse(own);
  return { score, output: outputOf(reply, mode, score, request) };
}

/** Words that ask for a rating, whatever else was not understood. */
const ASKS_FOR_RATING = /\b(rate|rating|score|grade|how (good|bad)|(overall|image|picture|photo) quality)\b/i;

function formOf({ query, choices, plan }: SummaryRequest, { understand, models }: Workplace) {
  const { form, options, confidence } = understand(query, choices);
  const isSure = confidence >= models.planner_certain_from || (confidence >= TRUSTED && ASKS_FOR_RATING.test(query));
  const isScoring = form === 'scoring' && isSure && plan.query_type === 'IQA';
  const mode: AnswerMode = options.length > 0 ? 'multiple_choice' : isScoring ? 'scoring' : 'explanation';
  return { mode, options };
}

/** The best source there is: the tokens' own probabilities, those that the model declares, or its level alone. */
function probabilitiesOf(reply: SummaryReply, fromTokens: OwnProbabilities['probabilities'] | null): OwnProbabilities {
  if (fromTokens) return { probabilities: fromTokens, method: 'logprobs' };
  const declared = levelsFromDeclaration(reply.probabilities);
  if (declared) return { probabilities: declared, method: 'declared' };
  return { probabilities: levelsFromClassification(reply.final_answer as Level), method: 'classification' };
}

function outputOf(
  reply: SummaryReply,
  mode: AnswerMode,
  score: QualityScore | null,
  { gaps, evidence, ungrounded }: SummaryRequest,
): Summary['output'] {
  const level = mode === 'scoring' ? (score?.level ?? reply.final_answer) : null;
  const needsReplan = gaps.length > 0 || reply.need_replan === true;
  const reasons = [...gaps, ...(reply.need_replan && reply.replan_reason ? [reply.replan_reason] : [])];
  return {
    final_answer: level ?? reply.final_answer,
    quality_reasoning: [
      reply.quality_reasoning,
      // One number and one word must not contradict each other without a reason given.
      level !== null && level !== reply.final_answer
        ? `The model alone says ${reply.final_answer.toLowerCase()}; together with the tools the level is ${level.toLowerCase()}.`
        : null,
      ungrounded.length > 0
        ? `No box was given or found for ${ungrounded.join(', ')}: what was measured is about the whole picture.`
        : null,
    ]
      .filter((sentence) => sentence !== null)
      .join(' '),
    need_replan: needsReplan,
    replan_reason: needsReplan && reasons.length > 0 ? [...new Set(reasons)].join('; ') : null,
    used_evidence: {
      distortion_analysis: Object.entries(evidence.distortion_analysis ?? {}).flatMap(([object, items]) =>
        items.map(({ type, severity }) => ({ object, type, severity })),
      ),
      quality_scores: scoresOf(evidence),
      quality_score: score?.value ?? null,
    },
  };
}

/** Without times and other chance: the same evidence makes the same prompt, which the cache then knows. */
function tellEvidence(
  { plan, evidence, gaps, ungrounded }: SummaryRequest,
  measured: Workplace['notes']['measured'],
): Record<string, unknown> {
  const failed = evidence.tool_logs.filter((log) => log.error !== null);
  return {
    query_type: plan.query_type,
    scope: plan.query_scope,
    reference_mode: plan.reference_mode,
    distortion_analysis: evidence.distortion_analysis,
    tool_scores: scoresOf(evidence),
    ...(measured ? { measured } : {}),
    ...(failed.length > 0 ? { tools_that_failed: [...new Set(failed.map((log) => log.tool_name))] } : {}),
    ...(ungrounded.length > 0 ? { measured_on_the_whole_picture_only: ungrounded } : {}),
    ...(gaps.length > 0 ? { missing: gaps } : {}),
  };
}

function scoresOf({ quality_scores }: SummaryRequest['evidence']) {
  return Object.entries(quality_scores ?? {}).flatMap(([object, scores]) =>
    Object.entries(scores).map(([distortion, [tool, value]]) => ({
      object,
      distortion,
      tool,
      score: Math.round(value * 100) / 100,
    })),
  );
}
