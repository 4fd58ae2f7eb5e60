// LangGraph's saver, made forgiving: a store that fails in the middle of a run costs the run its checkpoints, not its answer.
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

export const storeFailed = (cause: unknown): IqaError =>
  new IqaError('IQA_STORE_UNAVAILABLE', 'The store of checkpoints cannot be reached', { cause, retryAfter: 5 });

export class TolerantSaver extends BaseCheckpointSaver {
  readonly #saver: BaseCheckpointSaver;
  /** Runs whose checkpoints have a hole: nothing more is written of them, so that what is stored stays a state that once was. */
  readonly #broken = new Map<string, unknown>();

  constructor(saver: BaseCheckpointSaver) {
    super(saver.serde);
    this.#saver = saver;
  }

  /** What went wrong with the checkpoints of this run, if anything; forgotten once told. */
  takeFailure(id: string): unknown {
    const failure = this.#broken.get(id);
    this.#broken.delete(id);
    return failure;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    try {
      return await this.#saver.getTuple(config);
    } catch (error) {
      throw storeFailed(error);
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
    await this.#try(config, () => this.#saver.put(config, checkpoint, metadata, versions));
    const { checkpoint_ns = '' } = config.configurable ?? {};
    return {
      configurable: {
        thread_id: threadOf(config),
        checkpoint_ns: checkpoint_ns as string,
        checkpoint_id: checkpoint.id,
      },
    };
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    await this.#try(config, () => this.#saver.putWrites(config, writes, taskId));
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#saver.deleteThread(threadId);
  }

  async #try(config: RunnableConfig, work: () => Promise<unknown>): Promise<void> {
    const id = threadOf(config);
    if (this.#broken.has(id)) return;
    try {
      await work();
    } catch (error) {
      this.#broken.set(id, error);
    }
  }
}

const threadOf = (config: RunnableConfig): string =>
  String((config.configurable as { thread_id?: string } | undefined)?.thread_id);
