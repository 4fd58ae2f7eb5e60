// What a run carries besides its state. Never stored; rebuilt when a run is resumed.
import type { Region } from '../../schemas/requests/assess.ts';
import type { ProgressEvent } from '../../schemas/responses/progress.ts';
import type { RuleContext } from '../../schemas/validation/model.ts';
import type { Reasoner, ReasonerContext } from '../reasoners/reasoner.ts';
import type { EvidenceSource } from '../tools/evidence/source.ts';
import type { ToolRegistry } from '../tools/registry.ts';

export interface RunContext extends ReasonerContext {
  reasoner: Reasoner;
  evidence: EvidenceSource;
  registry: ToolRegistry;
  /** The boxes of the request. */
  regions: readonly Region[];
  priorContext: Record<string, unknown> | null;
  checkImagePath: NonNullable<RuleContext['checkImagePath']>;
  /** Milliseconds by stage, summed over rounds. */
  timings: Record<string, number>;
  /** Sends a progress event to the clients that listen; never fails, never waits. */
  report: (event: ProgressEvent) => void;
}
