// The vocabulary the tests of this folder speak: the shipped lexicon and a list of tools with their aliases.
import { fileURLToPath } from 'node:url';
import { loadLexicon } from '../../../src/reasoners/embedded/query/words/lexicon.ts';
import type { Vocabulary } from '../../../src/reasoners/embedded/query/parse-query.ts';

export const LEXICON_PATH = fileURLToPath(new URL('../../../configs/lexicon.yaml', import.meta.url));

const tool = (name: string, ...aliases: string[]) => ({ name, aliases });

export const VOCABULARY: Vocabulary = {
  lexicon: loadLexicon(LEXICON_PATH),
  tools: [
    tool('PSNR', 'peak signal-to-noise ratio'),
    tool('SSIM', 'structural similarity'),
    tool('MS-SSIM', 'multi-scale SSIM', 'multiscale structural similarity'),
    tool('GMSD'),
    tool('FSIM', 'FSIMc'),
    tool('VSI'),
    tool('MDSI'),
    tool('HaarPSI', 'haar'),
    tool('VIF', 'vifp', 'visual information fidelity'),
    tool('LPIPS'),
    tool('DISTS'),
    tool('NIQE', 'natural image quality evaluator'),
    tool('BRISQUE'),
    tool('PIQE'),
    tool('Fusion', 'panel', 'image quality', 'noise'),
    tool('MAD'),
  ],
};
