// The input of one assessment, and what it carries besides: ids, log, signal, deadline, reasoner.
import type { AssessRequest, Region } from '../../schemas/requests/assess.ts';
import type { ProgressEvent } from '../../schemas/responses/progress.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { PreparedImage } from '../images/prepare-image.ts';
import type { UsageTotals } from '../pipeline/rules/usage-totals.ts';
import type { ReasonerSource } from '../reasoners/reasoner.ts';
import type { Deadline } from './deadline.ts';

export interface AssessmentInput extends Pick<
  AssessRequest,
  'query' | 'max_replan_iterations' | 'choices' | 'prior_context' | 'backend' | 'maps'
> {
  image: PreparedImage;
  reference: PreparedImage | null;
  regions: readonly Region[];
}

/** What one assessment carries besides its input. Its signal is aborted when no client waits for the result. */
export interface AssessmentContext extends RequestContext {
  /** Of the assessment, not of the request. */
  id: string;
  deadline: Deadline;
  reasoner: ReasonerSource;
  report: (event: ProgressEvent) => void;
  /** Null for a new run. */
  resumeFrom: ResumePoint | null;
}

/** The stored stages of an earlier process. */
interface ResumePoint {
  usage: UsageTotals | null;
}

/** Resolves the back end that a request names, or the default; throws IQA_INPUT_INVALID for one that is not usable. */
export type SelectReasoner = (backend: string | undefined) => ReasonerSource;
