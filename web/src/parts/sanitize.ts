/** HTML from Markdown or from the highlighter, made safe: text from models is never put in another way. */
import DOMPurify from 'dompurify';

const TAGS = [
  'a',
  'b',
  'blockquote',
  'br',
  'code',
  'dd',
  'del',
  'details',
  'dl',
  'dt',
  'em',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'hr',
  'i',
  'input',
  'ins',
  'kbd',
  'li',
  'mark',
  'ol',
  'p',
  'pre',
  's',
  'samp',
  'small',
  'strong',
  'sub',
  'summary',
  'sup',
  'table',
  'tbody',
  'td',
  'tfoot',
  'th',
  'thead',
  'tr',
  'ul',
];
const ATTRIBUTES = ['align', 'checked', 'colspan', 'disabled', 'href', 'rowspan', 'start', 'title', 'type'];

/** Attributes whose values are no addresses: what may stand in an address does not hold for them. */
const NO_ADDRESSES = ATTRIBUTES.filter((name) => name !== 'href');

const purify = DOMPurify(window);

purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer');
  }
  // The only input is the box of a list of tasks.
  if (node.tagName === 'INPUT') {
    if (node.getAttribute('type') === 'checkbox') node.setAttribute('disabled', '');
    else node.remove();
  }
});

const SHARED = { RETURN_DOM_FRAGMENT: true as const, ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false };

/** The HTML of Markdown as nodes: no scripts, styles, classes, ids, forms or pictures. */
export function sanitize(html: string): DocumentFragment {
  const nodes = purify.sanitize(html, {
    ...SHARED,
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ADD_URI_SAFE_ATTR: NO_ADDRESSES,
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  });
  // A link whose address is refused leads nowhere, and does not look like one.
  for (const link of nodes.querySelectorAll('a:not([href])')) link.replaceWith(...link.childNodes);
  return nodes;
}

/** The HTML of the highlighter as nodes: spans with classes, and nothing else. */
export function sanitizeCode(html: string): DocumentFragment {
  return purify.sanitize(html, { ...SHARED, ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'] });
}
