// The summarizer's voice without a model: decides the answer from the evidence and says what it rests on.
import type { QualityScore } from '../../../../schemas/responses/assessment.ts';
import type { DistortionCategory } from '../../../../schemas/vocabulary.ts';
import type { Summary, SummaryRequest } from '../../reasoner.ts';
import { chooseOption } from './choice/choose.ts';
import { remedyOf } from './text/advice.ts';
import { judge, narrow, type Judged } from '../findings/ranking.ts';
import { readClaims } from './choice/options.ts';
import { list, lowerFirst, nameFinding, nameWithPlace, nounOf, upperFirst, withArticle } from './text/names.ts';
import type { SeverityRules } from '../findings/severity-rules.ts';
import { TRUSTED, understandQuery, type Understanding, type Vocabulary } from '../query/parse-query.ts';
import {
  declineOther,
  tellDoubt,
  tellFailures,
  tellFindings,
  tellGaps,
  tellMissingReference,
  tellScope,
  tellScore,
} from './text/sentences.ts';
import { UNDECIDED, yesOrNo, type Grounds, type Verdict } from './yes-no.ts';

export function answer(request: SummaryRequest, vocabulary: Vocabulary, rules: SeverityRules): Summary {
  if (request.plan.query_type === 'Other') return declineOther();
  const understood = understandQuery(request.query, vocabulary, request.choices);
  const score = request.fuse(null);
  const judged = judge(request);
  const weighed = { request, judged, score, vocabulary, rules };
  // A yes or no to words that were not understood would answer another question.
  const lost = understood.confidence < TRUSTED && understood.form !== 'multiple_choice';
  const verdict = lost ? notUnderstood(weighed) : decide(understood, weighed);
  const missing = request.gaps.length > 0;
  const telling = { asked: request.evidence.distortion_set === null, explains: tellsPlace(understood, request.query) };
  const told = [
    [tellScore(score, request.evidence), tellFailures(request.evidence)],
    [tellFindings(judged, rules, telling)],
  ];
  return {
    score,
    output: {
      final_answer: verdict.answer,
      quality_reasoning:
        [
          // A rating begins with the number and gives its reasons; whoever asked for something else is told that first.
          verdict.because,
          ...(telling.explains || understood.form === 'multiple_choice' ? told.toReversed() : told).flat(),
          tellDoubt(score, judged, rules, telling.asked),
          tellScope(request.ungrounded),
          tellMissingReference(understood, request.query, request.plan),
          tellGaps(request.gaps),
        ]
          .filter((sentence) => sentence !== null)
          .join(' ') || 'Nothing could be measured.',
      need_replan: missing,
      replan_reason: missing ? request.gaps.join('; ') : null,
      used_evidence: usedEvidence(request, judged, score),
    },
  };
}

const ASKS_WHERE = /\bwhere(abouts)?\b|\bwhich (part|area|region|side|corner)s?\b/i;
const ASKS_FOR_HELP =
  /\b(improv|fix|repair|enhanc|correct|restor|remed)\w*\b|\bmake (?:it|this|that|the|my|our)(?: \w+)? better\b/i;

/** Not "rate how well it was corrected". */
const ASKS_WHAT_HELPS = new RegExp(
  `^\\W*(?:what|how|tell|any|anything|ideas?|tips?)\\b.*(?:${ASKS_FOR_HELP.source})`,
  'i',
);

const LEVEL = /\b(excellent|great|good|fine|fair|average|mediocre|poor|bad|terrible)\b/gi;

/** "Where are the artifacts?" and "what would make it better?" have the words of a rating, but want a place or a remedy. */
function formOf({ form, distortions, alternatives }: Understanding, query: string): Understanding['form'] {
  if (form === 'scoring' && (ASKS_WHERE.test(query) || ASKS_WHAT_HELPS.test(query))) return 'explanation';
  // "Is the quality good, fair or bad?" wants one of the words, not a yes.
  const levels = new Set((query.match(LEVEL) ?? []).map((word) => word.toLowerCase()));
  return form === 'yes_no' && distortions === null && alternatives && levels.size > 1 ? 'scoring' : form;
}

/** A rating or a letter says nothing of places; everything else explains. */
export function tellsPlace(understood: Understanding, query: string): boolean {
  const form = formOf(understood, query);
  return (
    understood.queryType === 'IQA' &&
    understood.confidence >= TRUSTED &&
    form !== 'scoring' &&
    form !== 'multiple_choice'
  );
}

/** All that an answer may rest on. */
interface Weighed {
  request: SummaryRequest;
  judged: readonly Judged[];
  score: QualityScore | null;
  vocabulary: Vocabulary;
  rules: SeverityRules;
}

const GENERAL_FLAW =
  /\b(distortion|art[ei]fact|degradation|flaw|defect|problem|issue|damage|impairment|fault|error)s?\b/i;

/** "Which is blurrier, the dog or the fence?": of the whole picture nothing follows for either. */
function cannotCompare({ objects }: Understanding, { ungrounded }: SummaryRequest): Verdict | null {
  const boxless = objects.filter((object) => ungrounded.includes(object));
  return objects.length < 2 || boxless.length === 0
    ? null
    : { answer: UNDECIDED, because: `Without a box, ${list(boxless.map(withArticle))} cannot be compared.` };
}

function notUnderstood(weighed: Weighed): Verdict {
  return {
    answer: weighed.score?.level ?? inShort(weighed.judged, weighed, false).answer,
    because: 'The question was not understood; this is the overall quality.',
  };
}

function decide(understood: Understanding, weighed: Weighed): Verdict {
  const { request, judged, score, vocabulary, rules } = weighed;
  const named = namedCategories(understood);
  const relevant = narrow(
    named.length > 0 ? judged.filter((item) => named.includes(item.type)) : judged,
    understood.sides,
  );
  const short = inShort(relevant, weighed, named.length > 0);
  switch (formOf(understood, request.query)) {
    case 'multiple_choice':
      return chooseOption(understood, { request, relevant, score, vocabulary, rules });
    case 'yes_no':
      return yesOrNo(understood, relevant, groundsOf(weighed)) ?? short;
    case 'scoring':
      return score ? { answer: score.level, because: null } : short;
    case 'how_much': {
      // "How severe is the worst distortion?" asks for that, not for a rating.
      if (GENERAL_FLAW.test(request.query)) return short;
      const bare = relevant.some(({ rank }) => rank > 0)
        ? `${score?.level ?? ''}: ${lowerFirst(short.answer)}`
        : score?.level;
      return named.length > 0 || !score ? short : { answer: bare ?? short.answer, because: null };
    }
    case 'which':
      return cannotCompare(understood, request) ?? explain(relevant, weighed, short);
    default:
      return explain(relevant, weighed, short);
  }
}

const groundsOf = ({ request: { query, plan }, score, rules, vocabulary }: Weighed): Grounds => ({
  score,
  rules,
  query,
  hasReference: plan.reference_mode === 'Full-Reference',
  claims: readClaims(query, vocabulary),
});

/** What there is, in short; where it is or what would help, if that was the question. */
function explain(relevant: readonly Judged[], { request: { query }, rules }: Weighed, short: Verdict): Verdict {
  const worst = relevant.find(({ rank }) => rank > 0);
  const remedy = worst ? remedyOf(worst) : null;
  if (worst && ASKS_WHERE.test(query)) {
    const located = relevant.find(({ place, rank }) => place !== null && rank > 0);
    const unknown = `Where the ${nounOf(worst, rules)} is cannot be told: no local map shows it.`;
    return { answer: upperFirst(nameWithPlace(located ?? worst, rules)), because: located ? null : unknown };
  }
  if (remedy !== null && ASKS_FOR_HELP.test(query)) return { answer: remedy.replace(/\.$/, ''), because: null };
  return short;
}

/** `named`: the question names distortions, so that the answer speaks of those alone. */
function inShort(
  relevant: readonly Judged[],
  { score, rules }: Pick<Weighed, 'score' | 'rules'>,
  named: boolean,
): Verdict {
  if (relevant.length === 0) return { answer: UNDECIDED, because: null };
  const visible = relevant.filter((item) => item.rank > 0).slice(0, 3);
  if (visible.length > 0)
    return { answer: upperFirst(list(visible.map((item) => nameFinding(item, rules)))), because: null };
  if (!named) {
    // That the likeliest of all distortions does not show means that none does.
    const overall = score
      ? `${score.value < 2.5 ? ', but' : ':'} the overall quality is ${score.level.toLowerCase()}`
      : '';
    return { answer: `No distortion stands out${overall}`, because: null };
  }
  return {
    answer: `No visible ${list([...new Set(relevant.slice(0, 3).map((item) => nounOf(item, rules)))], 'or')}`,
    because: null,
  };
}

export function namedCategories({ distortions }: Pick<Understanding, 'distortions'>): DistortionCategory[] {
  return [...new Set(Object.values(distortions ?? {}).flat())];
}

/** Findings, measurements, places and tools: what was looked at for this question, and nothing that was not. */
function usedEvidence(
  { evidence }: SummaryRequest,
  judged: readonly Judged[],
  score: QualityScore | null,
): Record<string, unknown> {
  const tools = Object.entries(evidence.quality_scores ?? {}).flatMap(([object, scores]) =>
    Object.entries(scores).map(([distortion, [tool, value]]) => ({ object, distortion, tool, score: value })),
  );
  const measurements = judged.flatMap(({ object, type, measurements: values }) =>
    Object.entries(values).flatMap(([name, value]) =>
      value === null ? [] : [{ object, distortion: type, name, value }],
    ),
  );
  return {
    distortion_analysis: judged.map(({ object, type, severity }) => ({ object, type, severity })),
    measurements,
    places: judged.flatMap(({ object, type, place }) =>
      place ? [{ object, distortion: type, where: place.where, map: place.map }] : [],
    ),
    quality_scores: tools,
    quality_score: score?.value ?? null,
    interval: score?.interval ?? null,
  };
}
