export function readImageNodeVersion(): string;
export function fetchNode(version: string): string;
