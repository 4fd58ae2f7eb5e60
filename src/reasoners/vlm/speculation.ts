// The executor's call beside the planner's: begun under the plan that the embedded planner holds likely, used if the model plans the same, else dropped.
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { PlannerOutput } from '../../../schemas/pipeline/planner.ts';
import { NoRoom } from '../../vlm/session.ts';
import type { Examination, ExamineRequest } from '../reasoner.ts';
import type { Spoke } from './reasoner.ts';

interface Work {
  request: ExamineRequest;
  isAhead: boolean;
  signal: AbortSignal;
  spoke: Spoke;
}

export interface Ahead {
  /** At most one is under way. */
  begin: (plan: PlannerOutput, foretell: () => Promise<ExamineRequest>) => void;
  /** The plan is known: what was begun under another one is of no use. Null: there is none. */
  decide: (plan: PlannerOutput | null) => void;
  /** From what was begun, where it answers this very request; else from a new call. */
  examine: (request: ExamineRequest, signal: AbortSignal) => Promise<Examination>;
}

export interface AheadOptions {
  examine: (work: Work) => Promise<Examination>;
  /** Told only of those whose answer is used. */
  spoke: Spoke;
  /** Of the whole run, since what is begun during one stage ends in the next. */
  signal: AbortSignal;
  log: Logger;
}

interface Begun {
  plan: PlannerOutput;
  controller: AbortController;
  work: Promise<{ request: ExamineRequest; examination: Promise<Examination> }>;
  speakers: Parameters<Spoke>[0][];
}

export function createAhead({ examine, spoke, signal, log }: AheadOptions): Ahead {
  let begun: Begun | null = null;

  function drop(): void {
    begun?.controller.abort(new DOMException('The plan is another one', 'AbortError'));
    begun = null;
  }

  return {
    begin(plan, foretell) {
      if (begun) return;
      const controller = new AbortController();
      const stop = AbortSignal.any([signal, controller.signal]);
      const speakers: Begun['speakers'] = [];
      const work = foretell().then((request) => {
        stop.throwIfAborted();
        const examination = examine({
          request,
          isAhead: true,
          signal: stop,
          spoke: (speaker) => {
            speakers.push(speaker);
          },
        });
        // Nobody may ever ask for it.
        examination.catch(() => undefined);
        return { request, examination };
      });
      work.catch(() => undefined);
      begun = { plan, controller, work, speakers };
    },
    decide(plan) {
      if (!begun || isDeepStrictEqual(plan, begun.plan)) return;
      log.debug("The model plans otherwise: the executor's call that was begun ahead is dropped");
      drop();
    },
    async examine(request, stageSignal) {
      const now = () => examine({ request, isAhead: false, signal: stageSignal, spoke });
      const early = await begun?.work.catch(() => null);
      const isSame = early && isDeepStrictEqual(namesOf(early.request), namesOf(request)) && request.doubted.size === 0;
      if (!begun || !isSame) {
        drop();
        return now();
      }
      const { speakers } = begun;
      // Used once: another round is another question.
      begun = null;
      try {
        const examination = await early.examination;
        speakers.forEach(spoke);
        return examination;
      } catch (error) {
        if (error instanceof NoRoom) return now();
        throw error;
      }
    },
  };
}

/** Between the two the sidecar may have gone, or come back with other tools. */
const namesOf = ({ tools }: ExamineRequest): string[] => tools.map(({ name }) => name);
