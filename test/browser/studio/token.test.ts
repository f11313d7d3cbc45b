import { expect, onTestFinished, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { visit } from '../../support/browser/visit.ts'
import { audience, openIssuer } from '../../support/issuer.ts'
import { startServer } from '../../support/server.ts'

test('a token of the provider opens the studio for its user, and an expired one does not', async () => {
  const issuer = await openIssuer()
  onTestFinished(() => issuer.stop())
  const server = await startServer({ auth: { jwt: { issuer: issuer.url, audience } } })
  onTestFinished(() => server.close())
  const chromium = await openBrowser()
  onTestFinished(() => chromium.close())
  const ask = async (sub: string, input: string) =>
    server.call('POST', '/api/v1/agents/echo/run', { input }, { authorization: `Bearer ${await issuer.sign({ sub })}` })
  await ask('ann', 'the words of ann')
  await ask('bob', 'the words of bob')
  const { page } = await visit(chromium, server.url, '/studio')
  const field = page.getByLabel('This server asks for a token.')
  await field.fill(await issuer.sign({ exp: 1_000 }))
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('it has expired').waitFor()
  await field.fill(await issuer.sign())
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('the words of ann').first().waitFor()
  expect(await page.getByText('the words of bob').count()).toBe(0)
})
