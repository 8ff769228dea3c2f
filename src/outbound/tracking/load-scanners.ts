// Reads the rules of src/outbound/tracking/scanners.yaml.
import { readFileSync } from 'node:fs';
import { InternalError } from '../../platform/errors.ts';
import { type AddressRange, parseRange } from '../../platform/net/network-address.ts';
import { loadYaml } from '../../platform/runtime/on-demand.ts';
import { parseScanners, type Scanner } from './scanners-schema.ts';

export interface ScannerRule {
  name: string;
  automated: boolean;
  kinds: Scanner['kinds'];
  userAgent: RegExp | null;
  networks: AddressRange[];
}

const shipped = new URL('./scanners.yaml', import.meta.url);

/** Returns the rules in their order. @throws InternalError for an invalid entry. */
export function loadScanners(): ScannerRule[] {
  const parsed = parseScanners(loadYaml().parse(readFileSync(shipped, 'utf8')));
  if (!Array.isArray(parsed)) throw new InternalError(`scanners.yaml: ${parsed.problem}`);
  return parsed.map(({ name, automated, kinds, userAgent, networks = [] }) => ({
    name,
    automated,
    kinds,
    userAgent: userAgent === undefined ? null : new RegExp(userAgent, 'i'),
    networks: networks.map((text) => {
      const range = parseRange(text);
      if (!range) throw new InternalError(`scanners.yaml: ${name}: ${text} is not a network`);
      return range;
    }),
  }));
}
