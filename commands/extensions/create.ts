import { extensionRoutes } from '../../src/extensions/routes.ts';
import { extensionCard as card } from '../base/nouns/extension.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  summary: 'Create an extension: a program that others install',
  description:
    'Its maker runs it elsewhere: no code of it runs in the daemon. It can be installed once ' +
    'it has a version: "svc extensions version" publishes one.',
  examples: [
    [
      'Create an extension whose events are posted',
      'svc extensions create --name triage --display-name Triage',
    ],
    [
      'Create one that reads its events from the stream',
      'svc extensions create --name sorter --runtime hosted',
    ],
  ],
  route: extensionRoutes.create,
  card,
});
