// The summarizer's voice without a model: decides the answer from the evidence and says what it rests on.
import type { QualityScore } from '../../../schemas/assessment.ts';
import type { DistortionCategory } from '../../../schemas/vocabulary.ts';
import type { Summary, SummaryRequest } from '../reasoner.ts';
import { chooseOption } from './choices.ts';
import { judge, narrow, type Judged } from './judging.ts';
import type { SeverityRules } from './severity-rules.ts';
import { TRUSTED, understandQuery, type Understanding, type Vocabulary } from './understanding.ts';
import { list, lowerFirst, nameFinding, nounOf, tellDoubt, tellFailures, tellFindings, tellGaps, tellScope, tellScore, upperFirst } from './wording.ts';

export interface Verdict {
  answer: string;
  /** A sentence of its own, where the answer needs one. */
  because: string | null;
}

export const UNDECIDED = 'Unable to determine';

export function answer(request: SummaryRequest, vocabulary: Vocabulary, rules: SeverityRules): Summary {
  if (request.plan.query_type === 'Other') return declineOther();
  const understood = understandQuery(request.query, vocabulary, request.choices);
  const score = request.fuse(null);
  const judged = judge(request);
  const weighed = { query: request.query, judged, score, vocabulary, rules };
  // A yes or no to words that were not understood would answer another question.
  const lost = understood.confidence < TRUSTED && understood.form !== 'multiple_choice';
  const verdict = lost ? notUnderstood(weighed) : decide(understood, weighed);
  const missing = request.gaps.length > 0;
  return {
    score,
    output: {
      final_answer: verdict.answer,
      quality_reasoning: [
        verdict.because, tellScore(score, request.evidence), tellFailures(request.evidence),
        tellFindings(judged, rules, request.evidence.distortion_set === null), tellDoubt(score, judged, rules),
        tellScope(request.ungrounded), tellGaps(request.gaps),
      ].filter((sentence) => sentence !== null).join(' ') || 'Nothing could be measured.',
      need_replan: missing,
      replan_reason: missing ? request.gaps.join('; ') : null,
      used_evidence: usedEvidence(request, judged, score),
    },
  };
}

/** A rating or a letter says nothing of places; everything else explains. */
export function tellsPlace({ form, queryType, confidence }: Understanding): boolean {
  return queryType === 'IQA' && confidence >= TRUSTED && form !== 'scoring' && form !== 'multiple_choice';
}

/** All that an answer may rest on. */
interface Weighed {
  query: string;
  judged: readonly Judged[];
  score: QualityScore | null;
  vocabulary: Vocabulary;
  rules: SeverityRules;
}

function notUnderstood({ judged, score, rules }: Weighed): Verdict {
  return { answer: score?.level ?? inShort(judged, rules).answer, because: 'The question was not understood; this is the overall quality.' };
}

function decide(understood: Understanding, { query, judged, score, vocabulary, rules }: Weighed): Verdict {
  const named = namedCategories(understood);
  const relevant = narrow(named.length > 0 ? judged.filter((item) => named.includes(item.type)) : judged, understood.sides);
  switch (understood.form) {
    case 'multiple_choice': return chooseOption(understood, { query, relevant, score, vocabulary, rules, aboutDistortion: named.length > 0 });
    case 'yes_no': return yesOrNo(understood, relevant, score, rules);
    case 'scoring': return score ? { answer: score.level, because: null } : inShort(relevant, rules);
    case 'how_much': {
      const short = inShort(relevant, rules);
      return named.length > 0 || !score ? short : { answer: `${score.level}: ${lowerFirst(short.answer)}`, because: null };
    }
    default: return inShort(relevant, rules);
  }
}

/** Yes or no to what was asked: the named distortions where there are any, the overall score otherwise. */
export function yesOrNo(understood: Understanding, relevant: readonly Judged[], score: QualityScore | null, rules: SeverityRules): Verdict {
  const { distortions, polarity } = understood;
  const worst = relevant[0];
  if (distortions && new Set(relevant.map((item) => item.type)).size > 1) return eachOf(understood, relevant, rules);
  if (distortions && worst) {
    const flawed = worst.rank >= 2 ? 'Yes' : worst.rank === 1 ? 'Slightly' : 'No';
    const virtuous = worst.rank >= 2 ? 'No' : worst.rank === 1 ? 'Mostly' : 'Yes';
    return { answer: `${polarity === 'asks_for_virtue' ? virtuous : flawed}: ${nameFinding(worst, rules)}`, because: null };
  }
  // The named distortions could not be judged: the overall score would answer another question.
  if (distortions) return { answer: UNDECIDED, because: null };
  if (!score) return inShort(relevant, rules);
  const good = score.value >= 3.5 ? 'Yes' : score.value >= 2.5 ? 'Borderline' : 'No';
  const bad = score.value >= 3.5 ? 'No' : score.value >= 2.5 ? 'Somewhat' : 'Yes';
  return { answer: `${polarity === 'asks_for_flaw' ? bad : good}: the overall quality is ${score.level.toLowerCase()}`, because: null };
}

/** "Is it blurry and noisy?" asks two things at once: both are told, and the first word says whether they agree. */
function eachOf({ polarity, alternatives }: Understanding, relevant: readonly Judged[], rules: SeverityRules): Verdict {
  const present = relevant.filter((item) => item.rank > 0);
  const absent = relevant.filter((item) => item.rank === 0);
  const praises = polarity === 'asks_for_virtue';
  const agreed = present.length === 0 ? (praises ? 'Yes' : 'No') : praises ? 'No' : 'Yes';
  const word = present.length === 0 || absent.length === 0 || (alternatives && !praises) ? agreed : 'Partly';
  const told = [
    ...(present.length > 0 ? [list(present.map((item) => nameFinding(item, rules)))] : []),
    ...(absent.length > 0 ? [`no visible ${list([...new Set(absent.map((item) => nounOf(item, rules)))], 'or')}`] : []),
  ];
  return { answer: `${word}: ${told.join(', but ')}`, because: null };
}

function inShort(relevant: readonly Judged[], rules: SeverityRules): Verdict {
  if (relevant.length === 0) return { answer: UNDECIDED, because: null };
  const visible = relevant.filter((item) => item.rank > 0);
  const nouns = relevant.slice(0, 3).map((item) => nounOf(item, rules));
  const text = visible.length > 0 ? list(visible.slice(0, 3).map((item) => nameFinding(item, rules))) : `no visible ${list(nouns, 'or')}`;
  return { answer: upperFirst(text), because: null };
}

export function namedCategories({ distortions }: Understanding): DistortionCategory[] {
  return [...new Set(Object.values(distortions ?? {}).flat())];
}

function usedEvidence({ evidence }: SummaryRequest, judged: readonly Judged[], score: QualityScore | null): Record<string, unknown> {
  const tools = Object.entries(evidence.quality_scores ?? {}).flatMap(([object, scores]) =>
    Object.entries(scores).map(([distortion, [tool, value]]) => ({ object, distortion, tool, score: value })));
  return {
    distortion_analysis: judged.map(({ object, type, severity }) => ({ object, type, severity })),
    quality_scores: tools,
    quality_score: score?.value ?? null,
  };
}

function declineOther(): Summary {
  return {
    score: null,
    output: {
      final_answer: UNDECIDED,
      quality_reasoning: 'This asks about what the picture shows or how it feels, not about its technical quality. Answering it needs a vision-language model, and none is configured; the measurements can only speak of blur, noise, compression, brightness, contrast, colour and sharpness.',
      need_replan: false,
      replan_reason: null,
      used_evidence: null,
    },
  };
}
