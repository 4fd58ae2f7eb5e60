// Finds the answer options in the question's text and in the request's `choices`.
export interface AnswerOption {
  /** The label as the user wrote it, in upper case: "A", or "1" where options are numbered. */
  letter: string;
  text: string;
}

interface Marker {
  label: string;
  start: number;
  end: number;
}

/** "A.", "A)", "(A)", "[A]", "A:", "1.", "A - ", "A = ", "Option A:" at the start of a line or after a space. */
const MARKER =
  /(?<![^\s,;:.?!/|])(?:option[^\S\n])?(?:[([]?([A-Za-z]|\d{1,2})[.):\]、](?=\s|$)|([A-Za-z])[^\S\n]?[-–—=](?=\s))[^\S\n]*/gi;
/** An instruction to the assistant after the last option on its line. */
const INSTRUCTION = /[.?!;]?\s+(?:please\s+)?(?:answer|choose|select|pick|reply|respond|give|explain|only)\b/i;

/** Splits the query into the question itself and its options; without options the stem is the whole text. */
export function splitOptions(text: string, choices: readonly string[] = []): { stem: string; options: AnswerOption[] } {
  const markers = findMarkers(text);
  const first = markers[0];
  const written = markers.map((marker, index) => readOption(text, marker, markers[index + 1]));
  return { stem: first ? text.slice(0, first.start) : text, options: [...written, ...letterChoices(choices, written)] };
}

/** The first run of two or more labels in order (A, B, C … or 1, 2, 3 …), in one pass and linear time. */
function findMarkers(text: string): Marker[] {
  let run: Marker[] = [];
  for (const match of text.matchAll(MARKER)) {
    const label = (match[1] ?? match[2] ?? '').toUpperCase();
    const marker = { label, start: match.index, end: match.index + match[0].length };
    const last = run.at(-1);
    if (last && label === labelAfter(last.label)) run.push(marker);
    else if (run.length < 2) run = label === 'A' || label === '1' ? [marker] : run;
  }
  return run.length >= 2 ? run : [];
}

function readOption(text: string, marker: Marker, next: Marker | undefined): AnswerOption {
  const rest = text.slice(marker.end, next?.start);
  const line = next ? rest : ((rest.split('\n', 1)[0] ?? '').split(INSTRUCTION, 1)[0] ?? '');
  return { letter: marker.label, text: tidy(line) };
}

const tidy = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[,;.]+$/, '');

function letterChoices(choices: readonly string[], written: readonly AnswerOption[]): AnswerOption[] {
  const taken = new Set(written.map((option) => option.text.toLowerCase()));
  const texts = withoutOwnLabels(choices).filter((text) => !taken.has(text.toLowerCase()));
  let label = written.at(-1)?.letter ?? '';
  return texts.map((text) => {
    label = labelAfter(label);
    return { letter: label, text };
  });
}

/** Choices that already have labels ("A. Blur") would otherwise get two. */
function withoutOwnLabels(choices: readonly string[]): string[] {
  const labelled = choices.map((choice) => /^\s*[([]?([A-Za-z]|\d{1,2})[.):\]]\s+(.*)$/s.exec(choice));
  const inOrder = labelled.every(
    (match, index) => match?.[1]?.toUpperCase() === String.fromCharCode(65 + index) || match?.[1] === String(index + 1),
  );
  return choices.map((choice, index) => tidy((inOrder ? labelled[index]?.[2] : null) ?? choice));
}

/** "" → A, A → B, Z → AA, 1 → 2. */
function labelAfter(label: string): string {
  if (label === '') return 'A';
  if (/^\d+$/.test(label)) return String(Number(label) + 1);
  const last = label.charCodeAt(label.length - 1);
  return last < 90 ? label.slice(0, -1) + String.fromCharCode(last + 1) : `${labelAfter(label.slice(0, -1))}A`;
}
