// Send payloads that must be refused (specification 4.2 rules 1 to 4): the fault, the payload, and
// the whole `fields` of the 422.
import { unwritable } from '../../../src/mail/mime/headers/header-encoding.ts';
import { payload } from '../messages/fixtures.ts';

export type InvalidSend = [what: string, body: unknown, fields: Record<string, string[]>];

const templateId = 'tmpl_0123456789abcdefghjk';
const contactId = 'contact_0123456789abcdefghjk';
const address = { email: 'a@b.example' };

const top = (fields: Record<string, unknown>) => payload({}, fields);
const to = (entry: unknown) => top({ to: [entry] });
const attached = (attachment: Record<string, unknown>) =>
  payload({ attachments: [{ filename: 'a.txt', content: 'aGk=', ...attachment }] });
const template = (fields: Record<string, unknown>) =>
  payload({ subject: undefined, text: undefined, ...fields });
const numbered = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, value]));

const words: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const expected = (type: string, received: string) =>
  received === 'undefined' ? 'is required' : `must be ${words[type]}, not ${words[received]}`;
const tooLong = (length: number) => `must have at most ${length} characters`;
const tooShort = 'must not be empty';
const tooMany = (count: number) => `must have at most ${count} entries`;
const inlineOnly = 'must be omitted with a template';
const unknown = ['unknown field'];
const elsewhere = ['unknown field; send it to POST /v1/messages/scheduled as scheduledFor'];
const anAddress = '{"email": "a@b.example"}';
const instead = (type: string, value: string) => `${expected(type, 'string')}: write ${value}`;
const meant = (field: string) => [`unknown field; did you mean ${field}?`];
const notAddress = ['is not a valid email address'];
const oneOfBoth = ['needs exactly one of email and contactId'];

/** Rules 1 to 3: combinations of content in a message. */
export const badContents: InvalidSend[] = [
  [
    'rule 1: inline content together with a template',
    payload({ html: '<p>x</p>', templateId }),
    {
      'email.subject': [inlineOnly],
      'email.html': [inlineOnly],
      'email.text': [inlineOnly],
    },
  ],
  [
    'rule 1: neither inline content nor a template',
    payload({ subject: undefined, text: undefined }),
    {
      'email.subject': ['is required for inline content'],
      'email.html': ['inline content needs html or text or both'],
    },
  ],
  [
    'rule 1: inline content without subject',
    payload({ subject: undefined }),
    { 'email.subject': ['is required for inline content'] },
  ],
  [
    'rule 1: inline content without html and text',
    payload({ text: undefined }),
    { 'email.html': ['inline content needs html or text or both'] },
  ],
  [
    'rule 1: template data without a template',
    payload({ templateData: {} }),
    {
      'email.templateData': ['needs a template'],
    },
  ],
  [
    'rule 2: templateId and templateSlug',
    template({ templateId, templateSlug: 'welcome' }),
    { 'email.templateSlug': ['must not be given together with templateId'] },
  ],
  [
    'rule 3: a template with a subject',
    template({ templateId, subject: 'Hello' }),
    { 'email.subject': [inlineOnly] },
  ],
  [
    'rule 3: a template with html',
    template({ templateSlug: 'welcome', html: '<p>x</p>' }),
    { 'email.html': [inlineOnly] },
  ],
  [
    'rule 3: a template with text',
    template({ templateSlug: 'welcome', text: 'x' }),
    { 'email.text': [inlineOnly] },
  ],
];

/** Rule 4: every field, its type and its bounds. */
export const badFields: InvalidSend[] = [
  ['null', null, { body: [expected('object', 'null')] }],
  ['a list', [], { body: [expected('object', 'array')] }],
  ['a text', '"x"', { body: [expected('object', 'string')] }],
  [
    'an empty object',
    {},
    {
      channel: ['is required'],
      to: [expected('array', 'undefined')],
      email: [expected('object', 'undefined')],
    },
  ],
  ['another channel', top({ channel: 'sms' }), { channel: ['must be "email"'] }],
  ['no recipient', top({ to: [] }), { to: ['needs at least one recipient'] }],
  ['a recipient alone', top({ to: address }), { to: [expected('array', 'object')] }],
  ['a recipient as text', to('a@b.example'), { 'to.0': [instead('object', anAddress)] }],
  ['a recipient without address', to({ name: 'Ada' }), { 'to.0': oneOfBoth }],
  ['a recipient with two addresses', to({ ...address, contactId }), { 'to.0': oneOfBoth }],
  [
    'an unknown recipient field',
    to({ ...address, nmae: 'A' }),
    { 'to.0.nmae': meant('to.0.name') },
  ],
  [
    'a bad address among good',
    top({ to: [address, { email: 'x' }] }),
    { 'to.1.email': notAddress },
  ],
  ['an address that is none', to({ email: 1 }), { 'to.0.email': [expected('string', 'number')] }],
  ['an endless address', to({ email: 'a'.repeat(321) }), { 'to.0.email': [tooLong(320)] }],
  [
    'an address of 255 bytes',
    to({ email: `a@${'b.'.repeat(123)}example` }),
    {
      'to.0.email': notAddress,
    },
  ],
  [
    'a bad contact id',
    to({ contactId: 'contact_1' }),
    { 'to.0.contactId': ['is not a contact id'] },
  ],
  [
    'a name that is none',
    to({ ...address, name: 1 }),
    {
      'to.0.name': [expected('string', 'number')],
    },
  ],
  ['a long name', to({ ...address, name: 'x'.repeat(201) }), { 'to.0.name': [tooLong(200)] }],
  ['cc as text', top({ cc: 'a@b.example' }), { cc: [instead('array', `[${anAddress}]`)] }],
  ['cc null', top({ cc: null }), { cc: [expected('array', 'null')] }],
  ['a bad cc', top({ cc: [{ email: 'x' }] }), { 'cc.0.email': notAddress }],
  ['a bad bcc', top({ bcc: [{ email: 'x' }] }), { 'bcc.0.email': notAddress }],
  [
    '51 recipients',
    top({ to: Array.from({ length: 49 }, () => address), cc: [address], bcc: [address] }),
    { to: ['at most 50 recipients over to, cc and bcc'] },
  ],
  ['from as text', top({ from: 'a@b.example' }), { from: [instead('object', anAddress)] }],
  [
    'from without address',
    top({ from: { name: 'A' } }),
    {
      'from.email': [expected('string', 'undefined')],
    },
  ],
  ['a bad from', top({ from: { email: 'x' } }), { 'from.email': notAddress }],
  ['an unknown from field', top({ from: { ...address, id: 1 } }), { 'from.id': unknown }],
  ['email as text', top({ email: 'x' }), { email: [expected('object', 'string')] }],
  [
    'an unknown email field',
    payload({ body: 'x' }),
    { 'email.body': meant('email.html or email.text') },
  ],
  [
    'a subject that is none',
    payload({ subject: 1 }),
    {
      'email.subject': [expected('string', 'number')],
    },
  ],
  ['a long subject', payload({ subject: 'x'.repeat(999) }), { 'email.subject': [tooLong(998)] }],
  ['html that is none', payload({ html: ['x'] }), { 'email.html': [expected('string', 'array')] }],
  ['text that is none', payload({ text: null }), { 'email.text': [expected('string', 'null')] }],
  ['NUL in text', payload({ text: 'a\0b' }), { 'email.text': ['must not contain NUL characters'] }],
  ['NUL in html', payload({ html: '\0' }), { 'email.html': ['must not contain NUL characters'] }],
  [
    'no replyTo in the list',
    payload({ replyTo: [] }),
    {
      'email.replyTo': ['must not be empty'],
    },
  ],
  ['a bad replyTo', payload({ replyTo: ['a@b.example', 'x'] }), { 'email.replyTo.1': notAddress }],
  [
    'a replyTo object',
    payload({ replyTo: [address] }),
    {
      'email.replyTo.0': [expected('string', 'object')],
    },
  ],
  [
    '11 replyTo',
    payload({ replyTo: Array.from({ length: 11 }, () => 'a@b.example') }),
    {
      'email.replyTo': [tooMany(10)],
    },
  ],
  [
    'a bad template id',
    template({ templateId: 'x' }),
    {
      'email.templateId': ['is not a template id'],
    },
  ],
  ['an empty template slug', template({ templateSlug: '' }), { 'email.templateSlug': [tooShort] }],
  [
    'template data that is none',
    template({ templateSlug: 'x', templateData: [] }),
    {
      'email.templateData': [expected('record', 'array')],
    },
  ],
  [
    'attachments as object',
    payload({ attachments: {} }),
    {
      'email.attachments': [expected('array', 'object')],
    },
  ],
  [
    'an attachment without name',
    attached({ filename: undefined }),
    {
      'email.attachments.0.filename': [expected('string', 'undefined')],
    },
  ],
  [
    'an empty file name',
    attached({ filename: '' }),
    { 'email.attachments.0.filename': [tooShort] },
  ],
  [
    'a long file name',
    attached({ filename: 'x'.repeat(256) }),
    {
      'email.attachments.0.filename': [tooLong(255)],
    },
  ],
  [
    'an attachment without content',
    attached({ content: undefined }),
    {
      'email.attachments.0.content': [expected('string', 'undefined')],
    },
  ],
  [
    'content that is no base64',
    attached({ content: '***' }),
    {
      'email.attachments.0.content': ['must be base64'],
    },
  ],
  [
    'a media type that is none',
    attached({ contentType: 'text' }),
    {
      'email.attachments.0.contentType': ['is not a media type'],
    },
  ],
  [
    'a multipart attachment',
    attached({ contentType: 'multipart/mixed' }),
    {
      'email.attachments.0.contentType': ['must be a single part'],
    },
  ],
  [
    'a content id with an open bracket',
    attached({ contentId: '<x' }),
    {
      'email.attachments.0.contentId': ['may have only letters, digits and . _ @ + -'],
    },
  ],
  [
    'an attachment by path',
    attached({ path: '/etc/passwd' }),
    {
      'email.attachments.0.path': unknown,
    },
  ],
  [
    '101 attachments',
    payload({ attachments: Array.from({ length: 101 }, () => ({ filename: 'a', content: '' })) }),
    { 'email.attachments': [tooMany(100)] },
  ],
  ['headers as list', payload({ headers: [] }), { 'email.headers': [expected('record', 'array')] }],
  [
    'a header that is no text',
    payload({ headers: { 'X-A': 1 } }),
    {
      'email.headers.X-A': [expected('string', 'number')],
    },
  ],
  [
    'a long header',
    payload({ headers: { 'X-A': 'x'.repeat(999) } }),
    {
      'email.headers.X-A': [tooLong(998)],
    },
  ],
  [
    'a List-Id that no encoded word can carry',
    payload({ headers: { 'List-Id': 'Größe' } }),
    { 'email.headers.List-Id': [unwritable] },
  ],
  [
    'a List-Unsubscribe with words beyond ASCII',
    payload({ headers: { 'List-Unsubscribe': 'Größe: https://example.com/ü' } }),
    { 'email.headers.List-Unsubscribe': [unwritable] },
  ],
  [
    'a receipt for an address beyond ASCII',
    payload({ headers: { 'Disposition-Notification-To': 'zoë@example.com' } }),
    { 'email.headers.Disposition-Notification-To': [unwritable] },
  ],
  [
    'a header twice',
    payload({ headers: { 'X-A': '1', 'x-a': '2' } }),
    {
      'email.headers.x-a': ['is given twice'],
    },
  ],
  [
    '51 headers',
    payload({ headers: numbered(51, 'x') }),
    { 'email.headers': ['at most 50 headers'] },
  ],
  [
    'an unknown tracking field',
    payload({ tracking: { open: true } }),
    {
      'email.tracking.open': meant('email.tracking.opens'),
    },
  ],
  [
    'an unknown footer field',
    payload({ footer: { enabled: false, text: 'x' } }),
    {
      'email.footer.text': meant('email.text'),
    },
  ],
  [
    'a bad parent',
    payload({ inReplyToMessageId: 'x' }),
    {
      'email.inReplyToMessageId': ['is not a message id'],
    },
  ],
  [
    'another priority',
    payload({ priority: 'urgent' }),
    {
      'email.priority': ['must be "high", "normal" or "low"'],
    },
  ],
  [
    'a bad conversation id',
    top({ conversationId: 'x' }),
    {
      conversationId: ['is not a conversation id'],
    },
  ],
  ['tags as text', top({ tags: 'x' }), { tags: [instead('array', '["x"]')] }],
  ['11 tags', top({ tags: Array.from({ length: 11 }, () => 'x') }), { tags: [tooMany(10)] }],
  ['an empty tag', top({ tags: ['a', ''] }), { 'tags.1': [tooShort] }],
  ['a long tag', top({ tags: ['x'.repeat(101)] }), { 'tags.0': [tooLong(100)] }],
  ['metadata as list', top({ metadata: [] }), { metadata: [expected('record', 'array')] }],
  [
    'nested metadata',
    top({ metadata: { a: {} } }),
    { 'metadata.a': ['must be a string, a number, true or false or null, not an object'] },
  ],
  ['long metadata', top({ metadata: { a: 'x'.repeat(2001) } }), { 'metadata.a': [tooLong(2000)] }],
  [
    'an empty metadata key',
    top({ metadata: { '': 1 } }),
    { 'metadata.': ['its name must not be empty'] },
  ],
  ['51 metadata keys', top({ metadata: numbered(51, 1) }), { metadata: ['at most 50 keys'] }],
  ['an unknown field', top({ subject: 'x' }), { subject: meant('email.subject') }],
  [
    'scheduledFor, which has its own operation',
    top({ scheduledFor: '2026-01-06T00:00:00Z' }),
    {
      scheduledFor: elsewhere,
    },
  ],
];
