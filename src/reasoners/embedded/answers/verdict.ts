// The short answer to a question, as the parts of this folder pass it on.
export interface Verdict {
  answer: string;
  /** A full sentence before the evidence, where the answer needs one. */
  reason: string | null;
}

export const UNDECIDED = 'Unable to determine';
