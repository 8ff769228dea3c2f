import { workspaceRoutes } from '../../src/content/templates/workspace/routes.ts';
import { findTemplate, templateArg } from '../base/nouns/template-id.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Show what changed between commits of a template',
  description: 'Without flags: the staged files against the last commit.',
  examples: [
    ['Show the staged changes', 'svc templates diff order-shipped'],
    [
      'Show the changes since a commit',
      'svc templates diff order-shipped --from 4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    ],
  ],
  args: templateArg,
  find: findTemplate,
  route: workspaceRoutes.diff,
  view: async ({ files }) => {
    const { plainText } = await import('../base/output/format.ts');
    const texts = files.map(({ diff, isTruncated }) => diff + (isTruncated ? '(cut off)\n' : ''));
    return texts.length === 0 ? 'No differences.' : plainText(texts.join('').trimEnd());
  },
});
