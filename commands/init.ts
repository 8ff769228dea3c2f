// `svc init`: the setup of a daemon's first start, without starting the daemon. Steps:
// src/service/first-start.ts. With --production it writes the configuration file first, and
// registers the first domain last.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Flags } from '@oclif/core';
import type { ProductionAnswers } from '../src/core/config/production.ts';
import type { Domain } from '../src/identity/domains/schema.ts';
import { ValidationError } from '../src/platform/errors.ts';
import { handOver } from './base/account/account.ts';
import { BaseCommand, type CommonFlags } from './base/command.ts';
import { canAsk, typedLine } from './base/input/ask.ts';
import { dnsRecordCard, uncheckedNote } from './base/input/fields.ts';
import { UsageError } from './base/output/failure.ts';
import { print } from './base/output/output.ts';
import { callRoute } from './base/route.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';
import { inContext } from './base/store-place.ts';

const usualFile = 'config.yaml';
const modes = ['direct', 'relay', 'capture'] as const;

interface Made {
  created: boolean;
  store: string;
  /** Null if the root key comes from the configuration. */
  secret: string | null;
  file: string | null;
  apiKey: string | null;
}

export default class Init extends BaseCommand {
  static override summary = 'Create the store, its secret and a first API key';

  static override description =
    'The daemon creates them by itself at its first start; other commands never do. ' +
    "Prints an owner's key, which is never shown again. If all of them exist already, " +
    'nothing is changed. --production also writes config.yaml (or the file of --config) for a server, and ' +
    'registers a first domain. It asks for what no flag gives.';

  static override examples = [
    { description: 'Create them in ./data, or where ./config.yaml says', command: 'svc init' },
    {
      description: 'Create them as the user of a configured daemon',
      command: 'svc init --config /etc/svc/config.yaml',
    },
    {
      description: 'Write a configuration for a server, and add a domain',
      command: 'svc init --production --domain example.com --hostname mail.example.com',
    },
  ];

  static override flags = {
    production: Flags.boolean({ description: 'Write a configuration for a server, too' }),
    domain: Flags.string({
      description: 'First sending domain, such as example.com',
      dependsOn: ['production'],
    }),
    hostname: Flags.string({
      description: 'Public name of this machine (default: mail.DOMAIN)',
      dependsOn: ['production'],
    }),
    'public-url': Flags.string({
      description: 'Address of the API for others (default: https://HOSTNAME)',
      dependsOn: ['production'],
    }),
    mode: Flags.option({
      description: 'Route of mail: direct, relay or capture (default: direct)',
      dependsOn: ['production'],
      options: modes,
    })(),
    'relay-host': Flags.string({
      description: 'Smarthost of mode relay',
      dependsOn: ['production'],
    }),
    'data-dir': Flags.string({
      description: 'Directory of the store (default: ./data)',
      dependsOn: ['production'],
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Init);
    if (!flags.production) {
      const made = await createStore(flags);
      await print(flags, made, () => madeText(made));
      return;
    }
    const { domain, ...answers } = await answersOf(flags);
    const file = resolve(flags.config ?? usualFile);
    await writeConfig(file, answers);
    const own = { ...flags, config: file, staysRoot: true as const };
    // A configuration that cannot be used is not left behind.
    const made = await createStore(own).catch((error: unknown) => {
      rmSync(file, { force: true });
      throw error;
    });
    const { domainRoutes } = await import('../src/identity/domains/routes.ts');
    const added = await callRoute(own, async () => domainRoutes.add, { body: { domain } });
    handOver(answers.dataDir);
    await print(flags, { ...made, domain: added }, () => productionText(made, added));
  }
}

interface ProductionFlags extends CommonFlags {
  domain?: string | undefined;
  hostname?: string | undefined;
  'public-url'?: string | undefined;
  mode?: ProductionAnswers['mode'] | undefined;
  'relay-host'?: string | undefined;
  'data-dir'?: string | undefined;
}

/** Takes the flags, and asks for the rest. @throws UsageError without a terminal */
async function answersOf(flags: ProductionFlags): Promise<ProductionAnswers & { domain: string }> {
  const ask = async (flag: string, question: string, usual?: string) => {
    if (!canAsk()) {
      if (usual !== undefined) return usual;
      throw new UsageError(`There is no terminal to ask on: give --${flag}`);
    }
    const hint = usual === undefined ? '' : ` (Enter: ${usual})`;
    return (await typedLine(`${question}${hint}`)) || usual || '';
  };
  const domain = flags.domain ?? (await ask('domain', 'Sending domain, such as example.com'));
  const { readDomainName } = await import('../src/identity/domains/schema.ts');
  const read = readDomainName(domain);
  if ('problem' in read) throw ValidationError.of('domain', read.problem);
  const hostname =
    flags.hostname ?? (await ask('hostname', 'Public name of this machine', `mail.${read.domain}`));
  const publicUrl =
    flags['public-url'] ?? (await ask('public-url', 'Address of the API', `https://${hostname}`));
  const mode = flags.mode ?? 'direct';
  const needsRelay = mode === 'relay' && flags['relay-host'] === undefined;
  const relayHost = needsRelay
    ? await ask('relay-host', 'Host of the smarthost')
    : (flags['relay-host'] ?? null);
  const dataDir = resolve(flags['data-dir'] ?? 'data');
  return { domain: read.domain, hostname, publicUrl, mode, relayHost, dataDir };
}

/** Writes a new file. @throws ValidationError if the file exists already */
async function writeConfig(file: string, answers: ProductionAnswers): Promise<void> {
  if (existsSync(file)) {
    throw new ValidationError(
      `${file} exists already: change it by hand ("svc config check" looks at it), or name another ` +
        'file by --config',
    );
  }
  const { productionConfig } = await import('../src/core/config/production.ts');
  writeFileSync(file, productionConfig(answers), { mode: 0o644, flag: 'wx' });
}

/** Creates all missing parts. Leaves a store of an earlier schema to the next daemon. */
async function createStore(flags: CommonFlags): Promise<Made> {
  const loaded = await readStoreConfig(flags);
  const { config, file } = loaded;
  const [{ openService }, { createLogger }, { firstStart }, { secretFile }, stores] =
    await Promise.all([
      import('../src/service/service.ts'),
      import('../src/platform/runtime/log.ts'),
      import('../src/service/first-start.ts'),
      import('../src/platform/runtime/key-ring.ts'),
      import('../src/platform/store/open.ts'),
    ]);
  const { database, dataDir, secret: settings } = config;
  const store = stores.describeLocation(stores.storeLocation(database.url, dataDir));
  const log = await createLogger({ level: 'silent', pretty: false });
  const secret = settings.key === null ? secretFile(dataDir, settings) : null;
  const made = { store, secret, file };
  const fail = async (error: unknown) => {
    throw asUnreachable(await inContext(error, loaded));
  };
  if (await stores.isStoreEarlier(database, dataDir).catch(fail)) {
    return { ...made, created: false, apiKey: null };
  }
  const app = await openService(config, log).catch(fail);
  const first = await firstStart(app).finally(() => app.close());
  return { ...made, created: first !== null, apiKey: first?.apiKey ?? null };
}

function madeText({ created, store, secret, apiKey }: Made, next = 'svc daemon'): string {
  if (!created) return `${store} exists already.`;
  const keep =
    secret === null ? '' : `\nand its secret ${secret}: keep a copy of that file elsewhere`;
  return `Created the store ${store}${keep}.

Your first API key, an owner's. It is shown only this once:

  ${apiKey}

Next: ${next}`;
}

async function productionText(made: Made, { domain, dnsRecords }: Domain): Promise<string> {
  const { cards } = await import('./base/output/format.ts');
  const unit = `svc daemon unit --config ${made.file} > /etc/systemd/system/svc.service`;
  return `Wrote ${made.file}.
${madeText(made, unit)}

Publish these DNS records of ${domain}:

${cards(dnsRecords, dnsRecordCard)}${uncheckedNote(dnsRecords, domain)}

Then check the machine: svc doctor --mail --config ${made.file}`;
}
