import type { ToolExecutionLog } from '../../../schemas/pipeline/executor.ts';

interface ToolFailure {
  failed: ToolExecutionLog;
  /** The tool that succeeded for the same object and distortion, if any. */
  replacement: ToolExecutionLog | undefined;
}

/** The first execution that failed; null when none did. */
export function findToolFailure(logs: readonly ToolExecutionLog[]): ToolFailure | null {
  const failed = logs.find((log) => log.error !== null);
  if (!failed) return null;
  const replacement = logs.find(
    (log) =>
      log.fallback &&
      log.error === null &&
      log.object_name === failed.object_name &&
      log.distortion === failed.distortion,
  );
  return { failed, replacement };
}
