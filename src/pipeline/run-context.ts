// What one run carries beside its state: its reasoner, its evidence source, its log. Never stored, rebuilt on resume.
import type { Logger } from 'pino';
import type { Region } from '../../schemas/requests/assess.ts';
import type { RuleContext } from '../../schemas/validation/model.ts';
import type { ProgressEvent } from '../../schemas/responses/progress.ts';
import type { Deadline } from '../assessments/deadline.ts';
import type { Reasoner } from '../reasoners/reasoner.ts';
import type { EvidenceSource } from '../tools/evidence/source.ts';
import type { ToolRegistry } from '../tools/registry.ts';

export interface RunContext {
  reasoner: Reasoner;
  evidence: EvidenceSource;
  registry: ToolRegistry;
  log: Logger;
  choices: readonly string[];
  regions: readonly Region[];
  priorContext: Record<string, unknown> | null;
  /** The disk as the planner's input may see it. */
  checkImagePath: NonNullable<RuleContext['checkImagePath']>;
  /** Rejects when a picture is damaged inside: such a picture is refused, never scored. */
  verifyPictures: () => Promise<void>;
  /** Milliseconds by stage, summed over rounds. */
  timings: Record<string, number>;
  /** Aborted when the client hangs up or the deadline passes. */
  signal: AbortSignal;
  deadline: Deadline;
  /** Tells those who watch what is going on; never fails, never waits. */
  report: (event: ProgressEvent) => void;
}
