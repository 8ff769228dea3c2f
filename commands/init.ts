// `svc init`: the setup of a daemon's first start, without starting one. Its steps: src/service/first-start.ts.
import { BaseCommand } from './base/command.ts';
import { print } from './base/output.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';
import { withConfiguration } from './base/store-place.ts';

export default class Init extends BaseCommand {
  static override summary = 'Create the store, its secret and a first API key';

  static override description =
    'The daemon creates them by itself at its first start; other commands never do. ' +
    "Prints an owner's key, which is never shown again. If all of them exist already, " +
    'nothing is changed.';

  static override examples = [
    { description: 'Create them in ./data, or where ./config.yaml says', command: 'svc init' },
    {
      description: 'Create them as the user of a configured daemon',
      command: 'svc init --config /etc/svc/config.yaml',
    },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Init);
    const loaded = await readStoreConfig(flags);
    const { config, file } = loaded;
    const [{ openService }, { createLogger }, { firstStart }, { secretFile }, stores] =
      await Promise.all([
        import('../src/service/service.ts'),
        import('../src/platform/runtime/log.ts'),
        import('../src/service/first-start.ts'),
        import('../src/platform/runtime/secrets.ts'),
        import('../src/platform/store/open.ts'),
      ]);
    const { database, dataDir } = config;
    const store = stores.describeLocation(stores.storeLocation(database.url, dataDir));
    const secret = secretFile(dataDir);
    const log = await createLogger({ level: 'silent', pretty: false });
    const fail = (error: unknown) => {
      throw asUnreachable(withConfiguration(error, loaded));
    };
    const app = await openService(config, log).catch(fail);
    const first = await firstStart(app).finally(() => app.close());
    const made = { created: first !== null, store, secret, file, apiKey: first?.apiKey ?? null };
    await print(flags, made, () => (first ? madeText(made) : `${store} exists already.`));
  }
}

function madeText(made: { store: string; secret: string; apiKey: string | null }): string {
  const { store, secret, apiKey } = made;
  return `Created the store ${store}
and its secret ${secret}: keep a copy of that file elsewhere.

Your first API key, an owner's. It is shown only this once:

  ${apiKey}

Next: svc daemon`;
}
