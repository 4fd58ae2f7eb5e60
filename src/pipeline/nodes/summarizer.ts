// Node 3: weighs the evidence, lets the reasoner answer, and asks for another round when something is missing.
import { parse } from '../../../schemas/validation/model.ts';
import { NO_REASON, SummarizerOutput } from '../../../schemas/pipeline/summarizer.ts';
import { publicMessage, reasonerFailureCode } from '../../errors.ts';
import { findGaps } from '../rules/gaps.ts';
import { fuse, weighLeadTools } from '../rules/fusion.ts';
import { recordReplanRequest } from '../rules/replanning.ts';
import type { RunContext } from '../run-context.ts';
import { boxesOf, resolveScope } from '../rules/scope.ts';
import { orAborted, type StageWork } from '../stage.ts';
import type { PipelineState, PipelineUpdate } from '../state.ts';

export function createSummarizer(eta: number): StageWork {
  return async (state, run, signal) => {
    try {
      return await summarize(state, run, signal, eta);
    } catch (error) {
      if (run.signal.aborted) throw error;
      run.log.warn({ err: error }, 'Summarizer failed');
      const message = `The summarizer failed: ${publicMessage(error)}`;
      return { error: message, failure: { code: reasonerFailureCode(error), message } };
    }
  };
}

async function summarize(
  state: PipelineState,
  run: RunContext,
  signal: AbortSignal,
  eta: number,
): Promise<PipelineUpdate> {
  const { plan, executor_evidence: evidence } = state;
  if (!plan || !evidence) throw new TypeError('Expected a plan and evidence before the summarizer runs');
  const scope = resolveScope(plan, boxesOf(state, run));
  const tools = weighLeadTools(evidence, (name) => run.registry.find(name)?.calibration);
  const summary = await orAborted(
    run.reasoner.summarize(
      {
        query: state.query,
        choices: run.choices,
        plan,
        evidence,
        regions: scope.regions,
        findings: state.findings ?? [],
        gaps: findGaps(plan, evidence, scope, run.registry.strengthOf, run.registry.isFusion),
        ungrounded: scope.ungrounded,
        fuse: (own) => fuse(tools, own, eta),
      },
      signal,
    ),
    signal,
  );
  const output = parse(SummarizerOutput, summary.output, {
    warn: (message) => {
      run.log.warn(message);
    },
  });
  return {
    summarizer_result: output,
    quality_score: summary.score,
    ...(output.need_replan ? recordReplanRequest(state, output.replan_reason ?? NO_REASON) : {}),
  };
}
