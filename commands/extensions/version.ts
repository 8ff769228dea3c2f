import { extensionVersionRoutes } from '../../src/extensions/routes.ts';
import type { ExtensionVersion } from '../../src/extensions/schema.ts';
import { grantLines, grantsOf, versionArgs } from '../base/nouns/extension.ts';
import { card as cardOf } from '../base/output/format.ts';
import { updateCommand } from '../base/verbs.ts';

const card = [
  ...['id', 'extensionId', 'version', 'isLatest', 'runtime', 'sendModes', 'changelog'],
  ...['withdrawnAt', 'createdAt'],
];

/** Shows a version with the grants in plain words. */
export async function versionView(version: ExtensionVersion): Promise<string> {
  const lines = await grantLines(grantsOf(version));
  return [cardOf(version, card), '', 'Grants:', ...(lines.length > 0 ? lines : ['  none'])].join(
    '\n',
  );
}

export default updateCommand({
  description:
    'It asks for permissions and kinds of events, each by its name, and never changes ' +
    'afterwards. Installations keep their version until a person upgrades them.',
  examples: [
    [
      'Publish a version that reads mail and proposes answers',
      'svc extensions version @last 1.0.0 --permission mailboxes:read --permission mailboxes:send --event mailbox.message.received --send-mode approval',
    ],
  ],
  args: versionArgs,
  // Without these flags the version asks for no grants.
  more: ({ permission, event }, data) => ({
    permissions: permission ?? [],
    events: event ?? [],
    ...data,
  }),
  route: extensionVersionRoutes.publish,
  view: versionView,
});
