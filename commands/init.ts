// `svc init`: the setup of a daemon's first start, without starting one. Its steps: src/first-start.ts.
import { BaseCommand } from './base/command.ts';
import { print } from './base/output.ts';
import { asUnreachable, readStoreConfig } from './base/session.ts';
import { withConfiguration } from './base/store-place.ts';

export default class Init extends BaseCommand {
  static override summary = 'Make the store, the secret and the first API key of an installation';

  static override description =
    'The daemon makes them by itself at its first start; other commands never do. Prints the ' +
    "key, an owner's: it is shown only this once. Where all is there already, nothing is changed.";

  static override examples = [
    { description: 'In ./data, or where ./config.yaml says', command: 'svc init' },
    {
      description: 'For a daemon with that configuration, as its user',
      command: 'svc init --config /etc/svc/config.yaml',
    },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Init);
    const loaded = await readStoreConfig(flags);
    const { config, file } = loaded;
    const [{ openService }, { createLogger }, { firstStart }, { secretFile }, stores] =
      await Promise.all([
        import('../src/service.ts'),
        import('../src/runtime/log.ts'),
        import('../src/first-start.ts'),
        import('../src/runtime/secrets.ts'),
        import('../src/store/open.ts'),
      ]);
    const { database, dataDir } = config;
    const store = stores.describeLocation(stores.storeLocation(database.url, dataDir));
    const secret = secretFile(dataDir);
    const log = await createLogger({ level: 'silent', pretty: false });
    const fail = (error: unknown) => {
      throw asUnreachable(withConfiguration(error, loaded));
    };
    // A new secret cannot open the existing store.
    const mustExist = await stores.isStoreThere(database.url, dataDir).catch(fail);
    const app = await openService(config, log, { mustExist }).catch(fail);
    const first = await firstStart(app).finally(() => app.close());
    const made = { created: first !== null, store, secret, file, apiKey: first?.apiKey ?? null };
    await print(flags, made, () => (first ? madeText(made) : `${store} is there already.`));
  }
}

function madeText(made: { store: string; secret: string; apiKey: string | null }): string {
  const { store, secret, apiKey } = made;
  return `Made the store ${store}
and its secret ${secret}: keep a copy of that file elsewhere.

Your first API key, an owner's. It is shown only this once:

  ${apiKey}

Next: svc daemon`;
}
