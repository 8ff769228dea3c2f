// `svc init --production` on a machine with systemd: the account, the configuration, the store, the
// unit and the start of the service. Each step is planned first (plan.ts).
import { rmSync } from 'node:fs';
import { messageOf, UnreachableError } from '../../../src/platform/errors.ts';
import { urlAt } from '../../../src/platform/net/network-address.ts';
import { writeNote } from '../output/output.ts';
import { type Machine, type Step, stepInWords } from './machine.ts';
import { type Plan, readAsService } from './plan.ts';
import {
  type MadeWithDomain,
  madeText,
  makeStoreWithDomain,
  ownerText,
  recordsText,
} from './store.ts';

export type Installed = MadeWithDomain & { unit: string; url: string };

/** @throws UnreachableError that names the step */
function perform(machine: Machine, step: Step): void {
  writeNote(stepInWords(step));
  try {
    machine.perform(step);
  } catch (error) {
    throw new UnreachableError(
      `This step failed: ${stepInWords(step)} (${messageOf(error)}). Mend it and run the command again: it continues`,
      { cause: error },
    );
  }
}

/**
 * Installs and starts the service.
 * @throws UnreachableError if a step fails, or the daemon does not become ready
 */
export async function install(
  plan: Plan,
  machine: Machine,
  owner: string | null,
): Promise<Installed> {
  const { before, behind, newConfig, domain, unit } = plan;
  const { config: file } = machine.places;
  const wasRunning = machine.isServiceRunning();
  for (const step of before) perform(machine, step);
  const loaded = readAsService(file);
  const made = await makeStoreWithDomain(loaded, domain, owner).catch((error: unknown) => {
    // A configuration that cannot be used is not left behind.
    if (newConfig !== null) rmSync(file, { force: true });
    throw error;
  });
  for (const step of behind) perform(machine, step);
  const problem = await machine.untilReady(loaded.config);
  if (problem !== null) {
    if (!wasRunning) machine.perform({ kind: 'run', words: ['systemctl', 'stop', 'svc'] });
    throw new UnreachableError(
      `The service did not become ready, and ${wasRunning ? 'still runs' : 'was stopped'}. Its last words:\n` +
        `${problem}\n"journalctl -u svc" has more. Mend it and run the command again: it continues`,
    );
  }
  const { host, port } = loaded.config.http;
  return { ...made, unit, url: urlAt(host, port) };
}

export async function installedText({ unit, url, file, domain, owner, ...made }: Installed) {
  return `The service svc is ready at ${url} (${file}, ${unit}).
${madeText({ file, ...made })}${ownerText(owner)}

${await recordsText(domain)}

Then:

  svc domains verify ${domain.domain}
  svc doctor --mail
  svc keys create --name app --role sender`;
}

/** Returns the steps of an installation in words. */
export function stepsOf({ before, behind, domain, loaded }: Plan, owner: string | null): string[] {
  return [
    ...before.map(stepInWords),
    `make the store in ${loaded.config.dataDir} if it is missing, with an owner's API key`,
    `add the domain ${domain} if it is missing`,
    ...(owner === null ? [] : [`invite ${owner} as an owner, and print the link`]),
    ...behind.map(stepInWords),
    'wait until the service is ready',
  ];
}

export function planText(plan: Plan, owner: string | null): string {
  const steps = stepsOf(plan, owner).map((step) => `  ${step}`);
  const { newConfig, loaded } = plan;
  const file = newConfig === null ? '' : `\n\n${loaded.file}:\n\n${newConfig.trimEnd()}`;
  return `Nothing was changed. Without --print it would, as root:\n\n${steps.join('\n')}${file}`;
}
