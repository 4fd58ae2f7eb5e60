// Notes for the response's diagnostics: what the boxes of a request could not be used for.
import type { Finding } from '../../../schemas/responses/assessment.ts';
import { formatUngrounded, type Scope } from './scope.ts';

export function describeScope({ ungrounded, unused }: Scope): string[] {
  return [
    ...ungrounded.map((object) => formatUngrounded([object])),
    ...unused.map((name) => `The box of ${name} was not used: the query does not ask about it.`),
  ];
}

/** Without this note an answer about a box in which nothing was measurable would read as if nothing were wrong there. */
export function describeUnmeasuredBoxes({ regions }: Scope, findings: readonly Finding[]): string[] {
  return regions.flatMap(({ name, box }) => {
    const values = findings
      .filter((finding) => finding.object_name === name)
      .flatMap(({ measurements }) => Object.values(measurements));
    if (box === null || values.length === 0 || values.some((value) => value !== null)) return [];
    return [
      `Nothing could be measured in the box of ${name}: its ${box[2]} × ${box[3]} pixels are too few, or show nothing measurable.`,
    ];
  });
}
