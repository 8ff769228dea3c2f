// Describes contents of HTML that its text does not show, in sentences for a person that approves a
// mail. Takes linear time.
import { mostCharacters, readTokens } from './tokens.ts';

const mostHosts = 3;
const longestHost = 100;

/** Returns the host of a web address; null for further addresses, such as `cid:` and `data:`. */
function hostOf(address: string): string | null {
  const [, host] = /^\s*(?:https?:)?\/\/([^/?#\s]+)/i.exec(address.slice(0, 2_000)) ?? [];
  return host === undefined ? null : host.slice(0, longestHost).toLowerCase();
}

function counted(count: number, one: string): string {
  return count === 1 ? `a ${one}` : `${count} ${one}s`;
}

/**
 * Returns a sentence for each kind of content in the first 256 KB of HTML that the text lacks; none
 * for plain HTML.
 */
export function notesOnHtml(html: string): string[] {
  const hosts = new Set<string>();
  const counts = { pictures: 0, forms: 0 };
  let addsWords = false;
  let inStyle = false;
  const look = (style: string) => {
    addsWords ||= /\bcontent\s*:\s*["']\s*[^"'\s]/i.test(style);
  };
  const start = html.slice(0, mostCharacters);
  readTokens(start, {
    open(name, attributes) {
      inStyle = name === 'style';
      if (['form', 'input', 'textarea', 'select'].includes(name)) counts.forms += 1;
      const sources = [attributes.get('src'), attributes.get('background')];
      for (const source of sources) {
        const host = source === undefined ? null : hostOf(source);
        if (host === null) continue;
        counts.pictures += 1;
        hosts.add(host);
      }
    },
    close() {
      inStyle = false;
    },
    text(words) {
      if (inStyle) look(words);
    },
  });
  const named = [...hosts].slice(0, mostHosts).join(', ');
  const more = hosts.size > mostHosts ? ` and ${hosts.size - mostHosts} more` : '';
  return [
    ...(counts.pictures > 0
      ? [`The HTML loads ${counted(counts.pictures, 'picture')} from ${named}${more}.`]
      : []),
    ...(counts.forms > 0 ? ['The HTML has a form.'] : []),
    ...(addsWords ? ['A style sheet adds words (::before, ::after).'] : []),
    ...(/[<]!--\[if[^\]<]{0,60}mso/i.test(start)
      ? ['Outlook shows parts that others do not.']
      : []),
    ...(html.length > mostCharacters
      ? [`Only the first ${mostCharacters / 1024} KB of the HTML were looked at for this list.`]
      : []),
  ];
}
