// Measurements of regions.
import type { MeasurementsEvent } from '../../../schemas/sidecar.ts';
import { IqaError } from '../../errors.ts';
import type { ToolCatalogue } from './catalogue.ts';
import type { ScopedRegion } from './region.ts';
import type { ResultFetcher } from './result-fetcher.ts';

export interface MeasuredRegion {
  values: Record<string, number | null>;
  /** The same measurements of the reference, if there is one. */
  reference: Record<string, number | null> | null;
}

export async function measureRegions(
  regions: readonly ScopedRegion[],
  { catalogue, fetcher }: { catalogue: ToolCatalogue; fetcher: ResultFetcher },
  signal: AbortSignal,
): Promise<Map<string, MeasuredRegion>> {
  const { measurements } = await catalogue.list();
  const results = await fetcher.fetch(
    regions.map((region) => fetcher.requestMeasurements(region, measurements.version)),
    signal,
  );
  return new Map(
    regions.map(({ name }, index) => [name, readMeasurements(results[index]?.event as MeasurementsEvent, name)]),
  );
}

function readMeasurements(event: MeasurementsEvent, region: string): MeasuredRegion {
  if (event.error) throw new IqaError('IQA_TOOL_FAILED', `No measurements of ${region}: ${event.error.message}`);
  return { values: event.values, reference: event.reference_values };
}
