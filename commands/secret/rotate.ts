// `svc secret rotate`. src/key-rotation/rotate.ts has the steps.
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output/output.ts';
import { withApp } from '../base/session.ts';

export default class SecretRotate extends BaseCommand {
  static override summary = 'Replace the root key and encrypt all secrets anew';

  static override description =
    'Appends a new key to secret.key, and encrypts every secret of the store with it, while daemons run. With ' +
    'SVC_SECRET_KEY, append a key to it in all daemons first. Earlier keys stay in their place: they verify the ' +
    'links of mail sent before. If it is killed, run it again: it continues. Back up secret.key afterwards.';

  static override examples = [
    {
      description: 'Replace the key of all daemons that share a file',
      command: 'svc secret rotate',
    },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(SecretRotate);
    await withApp(flags, async (app) => {
      const { rotateRootKey } = await import('../../src/key-rotation/rotate.ts');
      const rotated = await rotateRootKey(app);
      await print(flags, rotated, () => {
        const begun = rotated.wasResumed ? 'Ended an earlier rotation' : 'Replaced the root key';
        const keep = app.secrets.source.file;
        const reminder = keep === null ? '' : `\nBack up ${keep}: earlier copies lack the new key.`;
        return `${begun}: ${rotated.key} is in force, ${rotated.rows} secrets were encrypted anew.${reminder}`;
      });
    });
  }
}
