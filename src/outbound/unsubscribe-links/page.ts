// The page behind an unsubscribe link: plain HTML, no script, nothing loaded from elsewhere.
import type { Standing } from './leave.ts';

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function button(action: string, words: string): string {
  const field = `<input type="hidden" name="action" value="${action}">`;
  return `<form method="post">${field}<button>${escaped(words)}</button></form>\n`;
}

/** Renders the page. `group` is the name of the group, `sender` that of the organization. */
export function leavePage(
  { group: left, all }: Standing,
  { group, sender, address }: { group: string; sender: string; address: string },
): string {
  const says =
    all !== null
      ? `${address} gets no mail from ${sender}.`
      : left !== null
        ? `${address} gets no more “${group}” from ${sender}.`
        : `${address} gets “${group}” from ${sender}.`;
  const ofGroup =
    left === null ? button('leave', `Stop “${group}”`) : button('return', `Get “${group}” again`);
  const ofAll =
    all?.reason !== 'unsubscribe'
      ? button('leave-all', `Stop all mail from ${sender}`)
      : button('return-all', `Get mail from ${sender} again`);
  return (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Unsubscribe</title>\n' +
    '<meta name="viewport" content="width=device-width"></head><body>\n<h1>Unsubscribe</h1>\n' +
    `<p>${escaped(says)}</p>\n${all === null ? ofGroup : ''}${ofAll}</body></html>\n`
  );
}
