// Reads docker-compose.yml as a container engine does, with variables and defaults filled in.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../../../src/config/config.ts';

export interface ComposeService {
  build: string;
  command?: string[];
  environment?: Record<string, string>;
  tmpfs: string[];
  volumes?: string[];
  ports?: string[];
  networks: string[];
  profiles?: string[];
  read_only: boolean;
  cap_drop: string[];
  security_opt: string[];
  stop_grace_period: string;
  depends_on?: Record<string, { condition: string }>;
  deploy: { resources: { limits: { cpus: string; memory: string; pids: number } } };
}

export interface ComposeFile {
  services: Record<'service' | 'sidecar' | 'gateway', ComposeService>;
  networks: Record<string, { internal?: boolean }>;
}

export function readCompose(variables: Record<string, string> = {}): ComposeFile {
  const text = readFileSync(join(projectRoot(), 'docker-compose.yml'), 'utf8');
  const filled = text.replaceAll(
    /\$\{(\w+):-([^}]*)\}/g,
    (_whole, name: string, fallback: string) => variables[name] ?? fallback,
  );
  return parse(filled, { merge: true }) as ComposeFile;
}
