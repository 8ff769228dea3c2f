// Runs the checks of `svc doctor`, by a command or once a day by the daemon.
import type { App } from '../core/app.ts';
import { messageOf } from '../platform/errors.ts';
import { within } from '../platform/runtime/clock.ts';
import { isOfEarlierSchema } from '../platform/store/rows/unless-earlier.ts';
import { databaseChecks } from './database.ts';
import {
  type Check,
  type Finding,
  type Machine,
  type Surroundings,
  skipped,
  warn,
} from './finding.ts';
import { identityChecks } from './identity.ts';
import { machineChecks, thisMachine } from './machine.ts';
import { mailChecks } from './mail.ts';
import { networkChecks, offlineReason } from './network.ts';
import { passkeyChecks } from './passkeys.ts';
import { personChecks } from './persons.ts';
import { smarthostChecks } from './smarthost.ts';
import { storageChecks } from './storage.ts';

export const checks: readonly Check[] = [
  ...machineChecks,
  ...databaseChecks,
  ...storageChecks,
  ...networkChecks,
  ...passkeyChecks,
  ...personChecks,
  ...identityChecks,
  ...smarthostChecks,
  ...mailChecks,
];

/** Time after which a check is given up. */
const longestMs = 30_000;

interface Examination {
  /** Names of the checks to run. If missing: all checks, but checks of mail only with `mail`. */
  only?: readonly string[];
  /** Whether to check mail to remote servers too. Has no effect with `only`. */
  mail?: boolean;
  machine?: Machine;
}

/** Checks the service and the machine. Never rejects because of a finding. */
export async function examine(
  app: App,
  { only, mail = false, machine = thisMachine }: Examination = {},
): Promise<Finding[]> {
  const chosen = checks.filter((check) =>
    only ? only.includes(check.name) : mail || check.isOfMail !== true,
  );
  const asksInternet = chosen.some((check) => check.needsInternet || check.name === 'resolver');
  const offline = asksInternet ? await offlineReason(app) : null;
  const surroundings = { app, machine, offline };
  return Promise.all(chosen.map((check) => findingOf(check, surroundings)));
}

async function findingOf(check: Check, surroundings: Surroundings): Promise<Finding> {
  const { name } = check;
  if (check.needsInternet && surroundings.offline !== null) {
    return { check: name, ...skipped('the Internet cannot be asked: see resolver') };
  }
  const { clock } = surroundings.app;
  const late = () => new Error(`no result within ${longestMs / 1000} s`);
  try {
    const found = await within(clock, longestMs, check.look(surroundings), late);
    return { check: name, ...found };
  } catch (error) {
    if (await isOfEarlierSchema(surroundings.app.store.db, error)) {
      return { check: name, ...skipped('the schema is an earlier one: see database-schema') };
    }
    const remedy = 'Look at the named cause, and run the check again.';
    const found = `the check could not be made: ${messageOf(error)}`;
    return { check: name, ...warn(found, remedy, `svc doctor --only ${name}`) };
  }
}
