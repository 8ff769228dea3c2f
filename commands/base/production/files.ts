// `svc init --production` where it installs no service: it writes the configuration file, the store
// and the first domain.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ProductionAnswers, productionConfig } from '../../../src/core/config/production.ts';
import { ValidationError } from '../../../src/platform/errors.ts';
import { readStoreConfig } from '../session.ts';
import { type Ask, answersOf, type ProductionFlags } from './answers.ts';
import {
  type MadeWithDomain,
  madeText,
  makeStoreWithDomain,
  ownerText,
  recordsText,
} from './store.ts';

const usualFile = 'config.yaml';

export interface FilePlan {
  file: string;
  answers: ProductionAnswers & { domain: string };
}

/**
 * Returns the files to write. @throws UsageError without a terminal; ValidationError if the file
 * exists already
 */
export async function planFiles(
  flags: ProductionFlags,
  { ask, ownName }: { ask: Ask | null; ownName: string },
): Promise<FilePlan> {
  const dataDir = resolve(flags['data-dir'] ?? 'data');
  const answers = await answersOf(flags, { ask, ownName, dataDir });
  const file = resolve(flags.config ?? usualFile);
  if (existsSync(file)) {
    throw new ValidationError(
      `${file} exists already: change it by hand ("svc config check" looks at it), or name another ` +
        'file by --config',
    );
  }
  return { file, answers };
}

/** @throws ConfigError, and leaves nothing behind; UnreachableError if the store cannot be made */
export async function writeFiles(
  flags: ProductionFlags,
  { file, answers }: FilePlan,
  owner: string | null,
): Promise<MadeWithDomain> {
  writeFileSync(file, productionConfig(answers), { mode: 0o644, flag: 'wx' });
  try {
    const loaded = await readStoreConfig({ ...flags, config: file, staysRoot: true });
    return await makeStoreWithDomain(loaded, answers.domain, owner);
  } catch (error) {
    // A configuration that cannot be used is not left behind.
    rmSync(file, { force: true });
    throw error;
  }
}

/** Describes the written files. `reason` explains why no service was installed. */
export async function filesText({ file, domain, owner, ...made }: MadeWithDomain, reason: string) {
  return `Wrote ${file}. No service was installed: ${reason}.
${madeText({ file, ...made })}${ownerText(owner)}

${await recordsText(domain)}

Next: svc daemon --config ${file}
Then check the machine: svc doctor --mail --config ${file}

On a machine with systemd, "svc init --production" as root, without --config and --data-dir, installs the
service: its account, /etc/svc/config.yaml, /var/lib/svc and the unit.`;
}

export function filePlanText(
  { file, answers }: FilePlan,
  reason: string,
  owner: string | null,
): string {
  const inviting = owner === null ? '' : ` It would invite ${owner} as an owner.`;
  return `Nothing was changed. Without --print it would write ${file}, make the store in
${answers.dataDir} and add the domain ${answers.domain}.${inviting} It would install no service: ${reason}.

${file}:

${productionConfig(answers).trimEnd()}`;
}
