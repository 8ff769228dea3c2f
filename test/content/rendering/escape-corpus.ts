// Templates that try to leave the sandbox or to take the daemon's time and memory: the payloads of
// liquidjs's CVEs of 2026 among them, by their numbers.

/** Data of every payload. `o` has what a prototype would offer under names of its own. */
export const hostileData: Readonly<Record<string, unknown>> = {
  o: { x: 'own' },
  s: 'text',
  n: 5,
  a: ['a', 'b'],
  list: [{ k: 'v', g: 1 }, { k: 'w' }],
  many: 'x'.repeat(100_000),
  open: '<'.repeat(100_000),
  scripts: '<script'.repeat(14_000),
  nested: [[[['deep']]]],
};

export const hostilePartials: Readonly<Record<string, string>> = {
  self: "{% render 'self' %}",
  ping: "{% render 'pong' %}",
  pong: "{% render 'ping' %}",
  show: '{{ constructor }}{{ polluted }}{{ __proto__.x }}{{ v }}',
};

/** Name, template, and what is filled: a text, or the reason of a refusal. */
type Payload = [name: string, html: string, expected: string | RegExp];

const doubled = (first: string, double: string, times: number) =>
  `{% assign v = ${first} %}${`{% assign v = v | ${double} %}`.repeat(times)}`;

const tooMuch = /^the template (?:does too much work|takes too long)|took too long/;
const tooLarge = /^a value has at most|^the filled text has over|^the template does too much work/;
const tooLong = /too (?:many steps|long)|does too much work/;

/** A list with one list, which has 64 references to a text of 100 KB. Liquidjs counts one entry. */
const listOfLists =
  `{% assign v = many | split: '|' %}${'{% assign v = v | concat: v %}'.repeat(6)}` +
  "{% assign w = v | group_by: 'x' | map: 'items' %}";

/** Objects and prototypes. */
export const prototypePayloads: Payload[] = [
  ['the constructor of an object', '[{{ o.constructor }}]', '[]'],
  ['Function by two constructors', "[{{ o.constructor.constructor['return 1'] }}]", '[]'],
  ['the prototype of an object', '[{{ o.__proto__ }}{{ o["__proto__"].toString }}]', '[]'],
  ['the constructor of a string', '[{{ s.constructor }}{{ s.at }}]', '[]'],
  ['a method of a list', '[{{ a.map }}{{ a.constructor }}{{ a.__proto__.concat }}]', '[]'],
  ['a method of a number', '[{{ n.toFixed }}{{ n.constructor }}]', '[]'],
  ['the constructor of the brand', '[{{ brand.constructor }}{{ sender.__proto__ }}]', '[]'],
  ['names of the scope', '[{{ constructor }}{{ __proto__ }}{{ hasOwnProperty }}]', '[]'],
  ['names of Node', '[{{ process }}{{ global }}{{ globalThis }}{{ require }}{{ this }}]', '[]'],
  ['names of liquidjs', '[{{ liquid }}{{ context }}{{ globals }}{{ environments }}]', '[]'],
  ['the constructor of a loop', '{% for i in a %}[{{ forloop.constructor }}]{% endfor %}', '[][]'],
  [
    'the prototype of a loop',
    '{% for i in a %}[{{ forloop.__proto__.constructor }}]{% endfor %}',
    '[][]',
  ],
  ['getters of a loop', '{% for i in a %}[{{ forloop.__defineGetter__ }}]{% endfor %}', '[][]'],
  [
    'the class of a loop',
    '{% for i in a %}[{{ forloop.__proto__.__proto__.__proto__ }}]{% endfor %}',
    '[][]',
  ],
  [
    'the constructor of a capture',
    '{% capture c %}x{% endcapture %}[{{ c.constructor }}{{ c.toString }}]',
    '[]',
  ],
  ['a prototype by assign', '{% assign __proto__ = o %}[{{ x }}{{ o.y }}]', '[]'],
  ['a prototype by capture', '{% capture __proto__ %}y{% endcapture %}[{{ o.__proto__ }}]', '[]'],
  ['a prototype by increment', '{% increment __proto__ %}[{{ o.x.y }}]', '0[]'],
  ['a prototype by parameters', "[{% render 'show', __proto__: o, v: 1 %}]", '[1]'],
  ['constructors by map', "[{{ list | map: 'constructor' }}{{ list | map: '__proto__' }}]", '[]'],
  ['prototypes by where', "[{{ list | where: '__proto__' | size }}]", '[0]'],
  ['constructors by group_by', "{{ list | group_by: 'constructor' | map: 'name' | size }}", '1'],
  ['prototypes by sort', "{{ list | sort: '__proto__.x' | size }}", '2'],
  ['prototypes by find', "[{{ list | find: 'constructor' }}]", '[]'],
  ['CVE-2026-45618: an inherited filter', '{{ 1 | valueOf }}', /there is no filter valueOf/],
  [
    'CVE-2026-45618: its gadgets',
    "{{ 1 | valueOf | group_by: 'liquid' | first }}",
    /no filter valueOf/,
  ],
  ['an inherited filter of getters', '{{ 1 | __defineGetter__ }}', /no filter __defineGetter__/],
  ['the filter constructor', '{{ "return process" | constructor }}', /no filter constructor/],
  ['CVE-2026-45618: an inherited tag', '{% constructor %}', /tag constructor is not available/],
  ['the tag __proto__', '{% __proto__ %}', /tag __proto__ is not available/],
];

/** Files and other templates. */
export const filePayloads: Payload[] = [
  ['include of a file', "{% include '/etc/passwd' %}", /include is not available/],
  ['include of a variable', '{% include s %}', /include is not available/],
  ['render of a file', "{% render '/etc/passwd' %}", /without its folder/],
  ['render of a folder above', "{% render '../../etc/passwd' %}", /without its folder/],
  ['CVE-2026-35525: render of a symlink', "{% render 'link.liquid' %}", /no partial link.liquid/],
  ['render of an inherited name', "{% render 'constructor' %}", /no partial constructor/],
  ['render of a variable', '{% render s %}', /in quotes/],
  ['layout of a file', "{% layout '/etc/passwd' %}", /tag layout is not available/],
  [
    'CVE-2026-41311: a circle of layout and block',
    "{% layout 'self' %}{% block a %}{% block a %}{% endblock %}{% endblock %}",
    /tag layout is not available/,
  ],
  ['a partial in itself', "{% render 'self' %}", /partials render each other over 16 deep/],
  ['two partials in each other', "{% render 'ping' %}", /partials render each other over 16 deep/],
  ['a data file by raw', '{{ many | raw }}', /the filter raw is refused/],
];

/** Time and memory. */
export const costlyPayloads: Payload[] = [
  [
    'CVE-2026-44645: an empty loop',
    '{%- for i in (1..100000000) -%}{%- endfor -%}',
    /a range has at most/,
  ],
  [
    'CVE-2026-44645: empty loops in each other',
    '{% for i in (1..99999) %}{% for j in (1..99999) %}{% endfor %}{% endfor %}',
    tooLong,
  ],
  [
    'CVE-2026-44645: an empty tablerow',
    '{% tablerow i in (1..9) %}{% endtablerow %}',
    /not available/,
  ],
  [
    '10⁸ passes',
    '{% for i in (1..10000) %}{% for j in (1..10000) %}x{% endfor %}{% endfor %}',
    tooLong,
  ],
  [
    'a range beyond 2^53',
    '[{% for i in (9007199254740992..9007199254740994) %}x{% endfor %}]',
    '[]',
  ],
  ['a range of infinity', '[{% for i in (1..n) %}{{ i }}{% endfor %}]', '[12345]'],
  ['a range of a text', '[{% for i in (s..many) %}{{ i }}{% endfor %}]', '[]'],
  ['a negative limit', '[{% for i in a limit: -1 offset: -5 %}{{ i }}{% endfor %}]', '[a]'],
  ['CVE-2026-45357: a width of date', "{{ 'now' | date: '%9999999d' }}", /pads to 32/],
  ['CVE-2026-45357: a width of %N', "{{ 'now' | date: '%5000000N' }}", /pads to 32/],
  [
    'CVE-2026-45357: a width by a variable',
    "{% assign w = '%-^_5000000Y' %}{{ n | date: w }}",
    /pads to 32/,
  ],
  ['a format of 100 KB', '{{ n | date: many }}', /a format of date has at most 200 characters/],
  ['an unknown time zone', "{{ n | date: '%Y', many }}", /cannot be filled with this data/],
  ['CVE-2026-45617: strip_html of open tags', '{{ scripts | strip_html | size }}', '98000'],
  [
    'strip_html of 800 KB of <',
    `${doubled('open', 'append: v', 3)}{{ v | strip_html | size }}`,
    '800000',
  ],
  ['CVE-2026-55575: pop', '{{ a | pop }}', /no filter pop/],
  ['push of a list into itself', doubled('a', 'push: v', 60), /no filter push/],
  ['expressions at fill', "{{ list | where_exp: 'i', 'i.k == 1' }}", /no filter where_exp/],
  ['a text doubled 40 times', `${doubled('s', 'append: v', 40)}{{ v | size }}`, tooLarge],
  ['a list doubled 40 times', `${doubled('a', 'concat: v', 40)}{{ v | size }}`, tooMuch],
  [
    'a doubled list of long texts',
    `{% assign v = many | split: '|' %}${'{% assign v = v | concat: v %}'.repeat(12)}{{ v }}`,
    tooMuch,
  ],
  [
    'a doubled list that is joined',
    `{% assign v = many | split: '|' %}${'{% assign v = v | concat: v %}'.repeat(12)}{{ v | join: many }}`,
    tooMuch,
  ],
  [
    'a doubled list as JSON',
    `{% assign v = many | split: '|' %}${'{% assign v = v | concat: v %}'.repeat(12)}{{ v | json }}`,
    tooMuch,
  ],
  ['a list of lists that is joined', `${listOfLists}{{ w | join: ',' | size }}`, tooMuch],
  ['a list of lists that is printed', `${listOfLists}{{ w }}`, tooMuch],
  [
    'groups of groups as JSON',
    `{% assign v = list %}${"{% assign v = v | group_by: 'k' | concat: v | concat: v %}".repeat(40)}{{ v | json }}`,
    tooMuch,
  ],
  ['replace of every character', "{{ many | replace: '', many }}", tooLarge],
  ['replace by a long text', "{{ many | replace: 'x', many }}", tooLarge],
  ['join by a long text', "{{ many | split: '' | join: many }}", tooLarge],
  [
    'escapes in each other',
    '{{ open | url_encode | url_encode | url_encode | url_encode | size }}',
    '900000',
  ],
  ['a long text in a loop', '{% for i in (1..100000) %}{{ many }}{% endfor %}', tooLarge],
  ['a long piece in a loop', `{% for i in (1..100000) %}${'y'.repeat(1000)}{% endfor %}`, tooLarge],
  [
    'a capture in a loop',
    `{% capture c %}{% for i in (1..100000) %}${'y'.repeat(1000)}{% endfor %}{% endcapture %}`,
    tooLarge,
  ],
  [
    'a capture of itself',
    `{% assign c = s %}${'{% capture c %}{{ c }}{{ c }}{% endcapture %}'.repeat(40)}`,
    tooLarge,
  ],
  [
    'sums of long texts',
    "{% for i in (1..100000) %}{{ many | split: '' | sum }}{% endfor %}",
    tooMuch,
  ],
  ['a slice of 10⁹', '{{ many | slice: 0, 1000000000 | size }}', tooMuch],
  [
    'numbers beyond measure',
    '[{{ 9 | times: 9999999999999999 | round: 1000000 }}]',
    '[90000000000000000]',
  ],
  [
    'cycle of a long list',
    `{% for i in (1..100000) %}{% cycle ${'a,'.repeat(2000)}a %}{% endfor %}`,
    tooLong,
  ],
];
