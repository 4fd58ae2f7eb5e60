// One complete answer of the service, every key present, as the models of its parts allow.
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { NO_USAGE } from '../../../src/reasoners/reasoner.ts';

const IMAGE = {
  sha256: 'a'.repeat(64),
  width: 640,
  height: 480,
  format: 'jpeg',
  bytes: 52_000,
  notes: ['Turned upright'],
};
const SHARES = { Bad: 0, Poor: 0.05, Fair: 0.15, Good: 0.5, Excellent: 0.3 };

export function makeAssessment(): Assessment {
  return {
    id: 'asm_1',
    query: 'Is the vehicle blurry?',
    image: { ...IMAGE },
    reference: { ...IMAGE, notes: [] },
    plan: {
      query_type: 'IQA',
      query_scope: ['vehicle'],
      distortion_source: 'Explicit',
      distortions: { vehicle: ['Blurs'] },
      reference_mode: 'Full-Reference',
      required_tool: null,
      plan: { distortion_detection: false, distortion_analysis: true, tool_selection: true, tool_execution: true },
    },
    executor_evidence: {
      distortion_set: { vehicle: ['Blurs'] },
      distortion_analysis: { vehicle: [{ type: 'Blurs', severity: 'slight', explanation: 'Edges are 3.2 px wide.' }] },
      selected_tools: { vehicle: { Blurs: 'SSIM' } },
      quality_scores: { vehicle: { Blurs: ['SSIM', 4.1] } },
      tool_logs: [
        {
          tool_name: 'SSIM',
          object_name: 'vehicle',
          distortion: 'Blurs',
          raw_score: 0.93,
          normalized_score: 4.1,
          execution_time: 0.02,
          fallback: false,
          error: null,
          timestamp: '2026-11-17T08:00:00.000Z',
        },
      ],
    },
    summarizer_result: {
      final_answer: 'Good',
      quality_reasoning: 'Slight blur.',
      need_replan: false,
      replan_reason: null,
      used_evidence: null,
    },
    iteration_count: 0,
    max_replan_iterations: 2,
    replan_history: [],
    error: null,
    quality_score: {
      value: 4.1,
      level: 'Good',
      interval: [3.8, 4.4],
      method: 'distribution',
      tool_mean: 4.1,
      weights: { ...SHARES },
      probabilities: { ...SHARES },
    },
    diagnostics: {
      plan_confidence: 0.9,
      findings: [
        {
          object_name: 'vehicle',
          distortion: 'Blurs',
          severity: 'slight',
          strength: 1.4,
          confidence: 0.8,
          measurements: { edge_width: 3.2, jpeg_quality: null },
          variants: { 'motion blur': 'slight' },
          place: null,
        },
      ],
      tools: [
        {
          tool_name: 'SSIM',
          version: '1',
          object_name: 'vehicle',
          raw_score: 0.93,
          normalized_score: 4.1,
          direction: 'higher',
          range: [0, 1],
          clipped: false,
          cached: false,
          calibration_version: '1',
        },
      ],
      maps: [
        { tool_name: 'SSIM', object_name: 'vehicle', media_type: 'image/png', width: 2, height: 2, base64: 'AAAA' },
      ],
      notes: [],
    },
    metadata: {
      request_id: 'req-1',
      reasoner: { kind: 'embedded', backend: 'embedded', model: null },
      degraded: false,
      degraded_reason: null,
      timings_ms: { planner: 1.5, total: 80 },
      vlm: NO_USAGE,
      cache: { hits: 0, misses: 1 },
      versions: { service: '0.1.0', pipeline: '1', reasoner: '1', sidecar: '0.1.0', contract: 1 },
    },
  };
}
