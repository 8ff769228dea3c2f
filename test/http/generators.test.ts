// Types that openapi-typescript makes from the OpenAPI document compile. The slower generators are
// in generators.long.test.ts.
// Slow: it validates and writes a document of 0.8 MB, and starts the compiler twice.
import { expect, it } from 'vitest';
import { generatorFolder } from '../support/generated-code.ts';

/** An application that sends mail, unsubscribes by a form, and reads an answer. */
const application = `import type { components, operations, paths } from './types.ts';
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Form<T> = T extends { content: { 'application/x-www-form-urlencoded': infer Body } } ? Body : never;
type Send = operations['sendMessage'];
export const body: Json<Send['requestBody']> = {
  channel: 'email',
  to: [{ email: 'ada@example.com' }],
  email: { subject: 'Hello', text: 'It works.' },
};
export const subjectOf = (sent: Json<Send['responses'][201]>): string | null => sent.subject;
export const form: Form<NonNullable<operations['unsubscribe']['requestBody']>> = {
  'List-Unsubscribe': 'One-Click',
};
export type Post = paths['/v1/messages']['post'];
export const nameOf = ({ _tag }: components['schemas']['ConflictError']): 'ConflictError' => _tag;
`;

it('openapi-typescript makes types that compile in an application', async () => {
  const folder = generatorFolder();
  await folder.generate('openapi-typescript/bin/cli.js', 'openapi.json', '--output', 'types.ts');
  expect(folder.read('types.ts')).toContain('/** @description Subject line; null without one */');
  folder.write('application.ts', application);
  expect(await folder.compile()).toBe('');
  folder.write('application.ts', application.replace("'One-Click'", "'Two-Clicks'"));
  expect(await folder.compile()).toContain('"Two-Clicks"');
  folder.remove();
});
