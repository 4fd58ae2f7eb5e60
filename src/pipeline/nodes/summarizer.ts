// Node 3: finds gaps in the evidence, lets the reasoner answer, and asks for another round when something is missing.
import { NO_REASON, SummarizerOutput } from '../../../schemas/pipeline/summarizer.ts';
import { parse } from '../../../schemas/validation/model.ts';
import { publicMessage, getReasonerErrorCode } from '../../errors.ts';
import { raceAbort } from '../../lib/abort.ts';
import { fuse, weighLeadTools } from '../rules/fusion.ts';
import { findGaps, formatReplanReason } from '../rules/gaps.ts';
import { recordReplanRequest } from '../rules/replanning.ts';
import type { RunContext } from '../run-context.ts';
import type { StageWork } from '../stage.ts';
import type { PipelineState, PipelineUpdate } from '../state.ts';

export function createSummarizer(eta: number): StageWork {
  return async (state, run, signal) => {
    try {
      return await summarize(state, run, signal, eta);
    } catch (error) {
      if (run.signal.aborted) throw error;
      run.log.warn({ err: error }, 'Summarizer failed');
      const message = `The summarizer failed: ${publicMessage(error)}`;
      return { error: message, failure: { code: getReasonerErrorCode(error), message } };
    }
  };
}

async function summarize(
  state: PipelineState,
  run: RunContext,
  signal: AbortSignal,
  eta: number,
): Promise<PipelineUpdate> {
  const { plan, scope, executor_evidence: evidence } = state;
  if (!plan || !scope || !evidence) throw new TypeError('Expected a plan and evidence before the summarizer runs');
  const tools = weighLeadTools(evidence, (name) => run.registry.find(name)?.calibration);
  const request = {
    question: run.question,
    plan,
    evidence,
    regions: scope.regions,
    findings: state.findings ?? [],
    gaps: findGaps(plan, evidence, scope, run.registry),
    ungrounded: scope.ungrounded,
    fuse: (own: Parameters<typeof fuse>[1]) => fuse(tools, own, eta),
  };
  const { output, score, replan } = await raceAbort(run.reasoner.summarize(request, signal), signal);
  const result = parse(
    SummarizerOutput,
    { ...output, need_replan: replan !== null, replan_reason: replan && formatReplanReason(replan) },
    {
      warn: (message) => {
        run.log.warn(message);
      },
    },
  );
  return {
    summarizer_result: result,
    quality_score: score,
    replan_request: replan,
    ...(replan ? recordReplanRequest(state, result.replan_reason ?? NO_REASON) : {}),
  };
}
