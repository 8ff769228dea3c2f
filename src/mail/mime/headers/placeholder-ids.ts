// Texts that programs write where a message id belongs, because they had none: the names of empty
// values, and templates that nobody filled. Data for message-ids.ts.

/** Left halves that name no message, in lower case. */
export const placeholderWords: ReadonlySet<string> = new Set([
  'undefined',
  'null',
  '(null)',
  'nil',
  'none',
  'nan',
  'void',
  'empty',
  'unknown',
  'false',
  'true',
  'n/a',
  'message-id',
  'message_id',
  'messageid',
  'msg-id',
  'msg_id',
  'msgid',
  'in-reply-to',
  'in_reply_to',
  'inreplyto',
  'placeholder',
  'systemguid',
  'object',
]);

/**
 * Left halves with an unfilled template. A GUID in braces does not match: some mail systems write
 * it.
 */
export const placeholderPatterns: readonly RegExp[] = [
  // {{id}}, ${id}, #{id}, {%id%}
  /\{\{[^{}]{0,200}\}\}|[$#]\{[^{}]{0,200}\}|\{%[^{}%]{0,200}%\}/,
  // {id}, {message.id}, {0}
  /\{(?:[a-z_][a-z_.:-]{0,60}\d?|\d?)\}/i,
  // [[id]], %%id%%
  /\[\[[^[\]]{0,200}\]\]|%%[\w.-]{1,60}%%/,
  // [id], %id%, __id__, $ID, :id
  /^(?:\[[a-z_][\w.-]{0,60}\]|%[a-z_][\w.-]{0,60}%|__[a-z][\w.-]{0,60}__|[$:][a-z_]{1,60})$/i,
  // %s, %d.%s, %1$s
  /^(?:%(?:\d\$)?[sdux][._-]?){1,20}$/,
];
