// Wraps LangGraph's saver so that a store failure during a run costs its checkpoints but not its answer.
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { IqaError } from '../errors.ts';

export const createStoreError = (cause: unknown): IqaError =>
  new IqaError('IQA_STORE_UNAVAILABLE', 'The checkpoint store cannot be reached', { cause, retryAfter: 5 });

export class BestEffortSaver extends BaseCheckpointSaver {
  readonly #saver: BaseCheckpointSaver;
  /** First failure by run. Nothing more is written for these runs, so that the stored state stays consistent. */
  readonly #failures = new Map<string, unknown>();

  constructor(saver: BaseCheckpointSaver) {
    super(saver.serde);
    this.#saver = saver;
  }

  /** Returns and clears the failure of a run. */
  takeFailure(id: string): unknown {
    const failure = this.#failures.get(id);
    this.#failures.delete(id);
    return failure;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    try {
      return await this.#saver.getTuple(config);
    } catch (error) {
      throw createStoreError(error);
    }
  }

  override list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    return this.#saver.list(config, options);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    versions: ChannelVersions,
  ): Promise<RunnableConfig> {
    await this.#tryWrite(config, () => this.#saver.put(config, checkpoint, metadata, versions));
    const { checkpoint_ns = '' } = config.configurable ?? {};
    return {
      configurable: {
        thread_id: getThreadId(config),
        checkpoint_ns: checkpoint_ns as string,
        checkpoint_id: checkpoint.id,
      },
    };
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    await this.#tryWrite(config, () => this.#saver.putWrites(config, writes, taskId));
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#saver.deleteThread(threadId);
  }

  async #tryWrite(config: RunnableConfig, work: () => Promise<unknown>): Promise<void> {
    const id = getThreadId(config);
    if (this.#failures.has(id)) return;
    try {
      await work();
    } catch (error) {
      this.#failures.set(id, error);
    }
  }
}

const getThreadId = (config: RunnableConfig): string =>
  String((config.configurable as { thread_id?: string } | undefined)?.thread_id);
