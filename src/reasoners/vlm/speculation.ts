// Starts the executor's model call beside the planner's, under the plan that the embedded planner expects; dropped if the model plans otherwise.
import { isDeepStrictEqual } from 'node:util';
import type { FastifyBaseLogger } from 'fastify';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { SpeculationSkippedError } from '../../vlm/errors.ts';
import type { Examination, ExamineRequest } from '../reasoner.ts';
import type { OnAnswered } from './context.ts';

interface Task {
  request: ExamineRequest;
  speculative: boolean;
  signal: AbortSignal;
  onAnswered: OnAnswered;
}

export interface Speculation {
  /** At most one examination is under way. */
  start: (plan: PlannerOutput, preview: () => Promise<ExamineRequest>) => void;
  /** The plan is known (null: there is none): an examination under another plan is dropped. */
  resolve: (plan: PlannerOutput | null) => void;
  /** The started examination if it answers this request, else a new one. */
  take: (request: ExamineRequest, signal: AbortSignal) => Promise<Examination>;
}

interface SpeculationOptions {
  examine: (task: Task) => Promise<Examination>;
  /** Called only for answers that are used. */
  onAnswered: OnAnswered;
  /** Of the whole run: what starts during one stage ends in the next. */
  signal: AbortSignal;
  log: FastifyBaseLogger;
}

interface Started {
  plan: PlannerOutput;
  controller: AbortController;
  work: Promise<{ request: ExamineRequest; examination: Promise<Examination> }>;
  answered: Parameters<OnAnswered>[0][];
}

export function createSpeculation({ examine, onAnswered, signal, log }: SpeculationOptions): Speculation {
  let started: Started | null = null;

  function drop(): void {
    started?.controller.abort(new DOMException('The plan differs', 'AbortError'));
    started = null;
  }

  return {
    start(plan, preview) {
      if (started) return;
      const controller = new AbortController();
      const stop = AbortSignal.any([signal, controller.signal]);
      const answered: Started['answered'] = [];
      const work = preview().then((request) => {
        stop.throwIfAborted();
        const examination = examine({
          request,
          speculative: true,
          signal: stop,
          onAnswered: (answer) => {
            answered.push(answer);
          },
        });
        // It may never be taken.
        examination.catch(() => undefined);
        return { request, examination };
      });
      work.catch(() => undefined);
      started = { plan, controller, work, answered };
    },
    resolve(plan) {
      if (!started || isDeepStrictEqual(plan, started.plan)) return;
      log.debug("The model plans otherwise: the executor's speculative call is dropped");
      drop();
    },
    async take(request, stageSignal) {
      const examineNow = () => examine({ request, speculative: false, signal: stageSignal, onAnswered });
      const early = await started?.work.catch(() => null);
      const isSame =
        early &&
        isDeepStrictEqual(toolNames(early.request), toolNames(request)) &&
        request.contradictedTools.size === 0;
      if (!started || !isSame) {
        drop();
        return examineNow();
      }
      const { answered } = started;
      // Used once: another round is another question.
      started = null;
      try {
        const examination = await early.examination;
        answered.forEach(onAnswered);
        return examination;
      } catch (error) {
        if (error instanceof SpeculationSkippedError) return examineNow();
        throw error;
      }
    },
  };
}

/** Between the two requests the sidecar may have stopped, or restarted with other tools. */
const toolNames = ({ tools }: ExamineRequest): string[] => tools.map(({ name }) => name);
