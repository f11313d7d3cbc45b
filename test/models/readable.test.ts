import { expect, it } from 'vitest'
import { readable } from '../../src/models/readable.ts'

const shown = (text: string, source: string) => readable({ start: 0, text }, source)

it.each([
  ['Use ``--all`` and :option:`run --dry`.', 'Use `--all` and `run --dry`.'],
  [
    'See :ref:`the list <ports>` and `the site <https://a.example/x>`_.',
    'See the list and [the site](https://a.example/x).',
  ],
  ['Run it::\n\n    make all\n      install\n\nDone.', 'Run it:\n```\nmake all\n  install\n```\n\nDone.'],
  ['.. code-block:: sh\n   :linenos:\n\n   make', '```sh\nmake\n```'],
  [
    '.. list-table:: Settings\n   :header-rows: 1\n\n   * - Name\n     - Meaning\n   * - ``force``\n     - How hard\n       it | presses\n\n       - or not\n   * - last',
    'Settings\n\n| Name | Meaning |\n|---|---|\n| `force` | How hard it \\| presses - or not |\n| last |  |',
  ],
  ['.. list-table::\n\n   no list', 'no list'],
  ['.. _install:\n\nTurn it on.', 'Turn it on.'],
  ['.. note:: Keep it ``dry``.\n   Always.', 'Note: Keep it `dry`.\nAlways.'],
])('shows reStructuredText with the marks of Markdown: %s', (text, expected) => {
  expect(shown(text, 'guide.rst')).toBe(expected)
  expect(shown(text, 'guide.txt')).toBe(text)
})

it.each([
  ['<a id="x"></a>\nPress <kbd>q</kbd>.<br>Or wait.', 'Press q. Or wait.'],
  ['Write `<b>` or:\n\n```html\n<b>bold</b>\n```', 'Write `<b>` or:\n\n```html\n<b>bold</b>\n```'],
  ['Call it with <name> if 1 < 2 and 3 > 2.', 'Call it with <name> if 1 < 2 and 3 > 2.'],
  ['<!-- hidden\nwords -->Shown.', 'Shown.'],
])('leaves HTML tags out, outside of code: %s', (text, expected) => {
  expect(shown(text, 'guide.md')).toBe(expected)
})

it.each(['deploy/haproxy.cfg', 'deploy/Caddyfile', 'Dockerfile', 'app.service', 'values.YAML', 'tool.py'])(
  'shows the lines of programs and settings as they are: %s',
  (source) => {
    expect(shown('defaults\n    # Ten minutes.\n    timeout <b>5s', source)).toBe(
      '```\ndefaults\n    # Ten minutes.\n    timeout <b>5s\n```',
    )
    expect(shown('a = "```"', source)).toBe('````\na = "```"\n````')
  },
)

it('is done with hostile text at once', () => {
  const texts = [
    '<a '.repeat(5_000),
    '`'.repeat(20_000),
    '<!--'.repeat(5_000),
    ':a:`'.repeat(5_000),
    '.. a::\n '.repeat(3_000),
    `.. list-table::\n\n${'   * - a\n     - b\n'.repeat(3_000)}`,
  ]
  const startedAt = performance.now()
  for (const text of texts) for (const source of ['a.md', 'a.rst']) shown(text, source)
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})
