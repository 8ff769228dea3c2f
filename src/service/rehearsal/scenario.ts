// Answers of receivers in a rehearsal. An address has a single fate for all mail, so that each
// rehearsal has the same result.
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { checkWith } from '../../core/api/validate.ts';
import { type SimulatedOutcome, simulatedOutcome } from '../../mail/smtp/route.ts';
import { ConfigError, messageOf } from '../../platform/errors.ts';
import { domainOf, foldAddress } from '../../platform/net/address.ts';
import { readNamedFile } from '../../platform/runtime/held-files.ts';
import { loadYaml } from '../../platform/runtime/on-demand.ts';
import { decodeUtf8 } from '../../platform/runtime/utf8.ts';
import { type Rates, type Scenario, scenarioInput } from './schema.ts';

const mostBytes = 1_000_000;
const hashRange = 2 ** 32;

/** Reads a scenario. @throws ConfigError naming the file and the field */
export function readScenario(file: string): Scenario {
  let content: unknown;
  try {
    const bytes = readNamedFile(file);
    if (bytes.length > mostBytes) throw new Error(`exceeds ${mostBytes} bytes`);
    const decoded = decodeUtf8(bytes);
    if ('problem' in decoded) throw new Error(decoded.problem);
    content = loadYaml().parse(decoded.text);
  } catch (error) {
    throw new ConfigError(`--scenario ${resolve(file)}: ${messageOf(error)}`);
  }
  const checked = checkWith(scenarioInput, content ?? {}, 'scenario');
  if ('error' in checked)
    throw new ConfigError(`--scenario ${resolve(file)}: ${checked.error.message}`);
  return checked.data;
}

/**
 * Returns the fate of an address: the fate of a simulator address, or the fate by the rates of the
 * domain.
 */
export function fateOf(scenario: Scenario, address: string): SimulatedOutcome {
  const simulated = simulatedOutcome(address);
  if (simulated) return simulated;
  const email = foldAddress(address);
  const { bounceRate, complaintRate } = ratesOf(scenario, domainOf(email));
  if (bounceRate === 0 && complaintRate === 0) return 'delivered';
  const hash = createHash('sha256').update(email).digest();
  if (hash.readUInt32BE(0) / hashRange < bounceRate) return 'bounced';
  return hash.readUInt32BE(4) / hashRange < complaintRate ? 'complained' : 'delivered';
}

const nothing: Rates = { bounceRate: 0, complaintRate: 0 };

function ratesOf({ default: others = nothing, domains = {} }: Scenario, domain: string): Rates {
  if (Object.hasOwn(domains, domain)) return domains[domain] ?? others;
  for (let rest = domain; rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) {
    const pattern = `*.${rest.slice(rest.indexOf('.') + 1)}`;
    if (Object.hasOwn(domains, pattern)) return domains[pattern] ?? others;
  }
  return others;
}
