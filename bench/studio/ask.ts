export interface Asked {
  run_id: string
  session_id: string
}

export async function ask(url: string, agent: string, body: object): Promise<Asked> {
  const answer = await fetch(`${url}/api/v1/agents/${agent}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${agent}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Asked
}
