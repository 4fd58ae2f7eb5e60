// Builds the request to a back end from a prompt and the feedback on the last reply, and the cache key of its answer.
import { createHash } from 'node:crypto';
import type { TSchema } from 'typebox';
import type { Backend } from './backends.ts';
import type { ModelImage, Turn, VLMReply, VLMRequest } from './client.ts';
import type { Role, RoleSettings } from './config-file.ts';
import type { ValidationFeedback } from './errors.ts';
import { toProviderSchema } from './providers/provider-schema.ts';

/** A query as composed for one back end. */
export interface ComposedPrompt<T> {
  /** Also the name of the schema. */
  task: string;
  promptVersion: string;
  system: string;
  prompt: string;
  images: readonly ModelImage[];
  schema: TSchema;
  logprobs: boolean;
  /** Validates the reply and reports each repair; throws ValidationError. */
  read: (value: Record<string, unknown>, reply: VLMReply, onRepair: (what: string) => void) => T;
}

export function buildRequest<T>(
  composed: ComposedPrompt<T>,
  { capabilities }: Backend,
  role: RoleSettings,
  feedback: ValidationFeedback | null,
): VLMRequest {
  const document = toProviderSchema(composed.schema);
  const { structuredOutput } = capabilities;
  return {
    system: structuredOutput
      ? composed.system
      : `${composed.system}\n\nAnswer with one JSON object and nothing else. Its JSON Schema:\n${JSON.stringify(document)}`,
    turns: buildTurns(composed.prompt, feedback),
    images: composed.images,
    schema: structuredOutput ? { name: composed.task, document } : null,
    temperature: role.temperature,
    topP: role.top_p,
    maxTokens: role.max_tokens,
    logprobs: composed.logprobs ? capabilities.logprobs : 0,
  };
}

/** A retry tells the model what was wrong with its last reply. */
function buildTurns(prompt: string, feedback: ValidationFeedback | null): Turn[] {
  if (!feedback) return [{ role: 'user', text: prompt }];
  const instruction = `Your last answer was not valid: ${feedback.problem}. Answer the same question again. Return valid JSON only, one object that keeps to the schema, without prose and without a code fence.`;
  if (feedback.reply.trim() === '') return [{ role: 'user', text: `${prompt}\n\n${instruction}` }];
  return [
    { role: 'user', text: prompt },
    { role: 'assistant', text: feedback.reply },
    { role: 'user', text: instruction },
  ];
}

/** Everything an answer depends on: the query is part of the prompt, the image's hash part of its key. */
export function answerCacheKey<T>(
  role: Role,
  { name, model }: Backend,
  composed: ComposedPrompt<T>,
  { temperature, top_p, max_tokens }: RoleSettings,
): string {
  const { task, promptVersion, system, prompt, images, schema } = composed;
  const parts = [
    role,
    task,
    promptVersion,
    name,
    model,
    temperature,
    top_p,
    max_tokens,
    system,
    prompt,
    images.map((image) => image.key),
    schema,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
