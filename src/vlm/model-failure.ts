// All back ends of a role were asked in vain: what was tried, and the code that it means for the caller.
import { IqaError, type ErrorCode } from '../errors.ts';
import type { Role } from './config-file.ts';

/** One attempt that brought no valid answer. */
export interface AttemptRecord {
  role: Role;
  /** Of this back end, counted from 1. */
  attempt: number;
  backend: string;
  error_type: string;
  message: string;
  timestamp: string;
}

export class ModelFailure extends IqaError {
  readonly attempts: readonly AttemptRecord[];

  constructor(code: ErrorCode, message: string, attempts: readonly AttemptRecord[]) {
    super(code, message);
    this.attempts = attempts;
  }
}
