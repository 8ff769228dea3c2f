// `svc extensions install`: shows the grants of a version in words, and installs it once a person
// accepts them.
import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { confirmed } from '../base/input/ask.ts';
import { given } from '../base/input/body.ts';
import { credentials, extensionArg, grantLines, grantsOf } from '../base/nouns/extension.ts';
import { printCard, writeNote } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class ExtensionsInstall extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Install an extension with exactly the grants that you accept';

  static override description =
    'Shows what the version asks for in plain words and asks on a terminal. Elsewhere name each ' +
    'grant with --accept, or take all with --accept-all. The key and the secret of the webhook ' +
    'are shown only this once.';

  static override examples = [
    {
      description: 'Look at the grants, and accept them',
      command: 'svc extensions install @last --webhook-url https://triage.example.com/events',
    },
    {
      description: 'Install it for one mailbox; a person approves its mail',
      command:
        'svc extensions install @last --mailbox mbx_06dq2k0qz8h3v5m1r9t4w7xy --send-mode approval --webhook-url https://triage.example.com/events --accept-all',
    },
  ];

  static override args = extensionArg;

  static override flags = {
    version: Flags.string({ description: 'Version, or its id (default: the latest)' }),
    'send-mode': Flags.string({
      description: 'Send mode: none, approval or send (default: the strictest it offers)',
    }),
    mailbox: Flags.string({
      description: 'Mailbox that it reaches; may be repeated (default: all)',
      multiple: true,
    }),
    namespace: Flags.string({ description: 'Namespace whose mailboxes it reaches' }),
    'webhook-url': Flags.string({ description: 'URL that its events are posted to' }),
    accept: Flags.string({
      description: 'Grant to accept, such as permission:mailboxes:read; may be repeated',
      helpValue: 'GRANT',
      multiple: true,
      exclusive: ['accept-all'],
    }),
    'accept-all': Flags.boolean({ description: 'Accept all grants of the version' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ExtensionsInstall);
    const installed = await withSession(flags, async (session) => {
      const { extensionRoutes, extensionVersionRoutes } = await import(
        '../../src/extensions/routes.ts'
      );
      const { installationRoutes } = await import('../../src/extensions/installation-routes.ts');
      const extension = await session.ask(extensionRoutes.get, { params: args });
      const { id: extensionId, name, latestVersion } = extension;
      const version = flags.version ?? latestVersion?.id;
      let accept = flags.accept;
      if (accept === undefined && version !== undefined) {
        const params = { id: extensionId, version };
        const found = await session.ask(extensionVersionRoutes.get, { params });
        accept = grantsOf(found);
        if (!flags['accept-all']) {
          for (const line of await grantLines(accept)) writeNote(line);
          const question = `Install ${name} ${found.version} with these ${accept.length} grants?`;
          await confirmed(question, false, 'add --accept-all, or --accept for each grant.');
        }
      }
      const scope = given({ mailboxIds: flags.mailbox, namespaceId: flags.namespace });
      const body = {
        extensionId,
        acceptPermissions: accept ?? [],
        ...given({ version, sendMode: flags['send-mode'], webhookUrl: flags['webhook-url'] }),
        ...(Object.keys(scope).length > 0 && { scope }),
      };
      return session.ask(installationRoutes.create, { body });
    });
    await printCard(flags, installed, credentials.card, credentials.note);
  }
}
