/** Everything that every page stands in. */
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { Notifications, notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useState } from 'react'
import { explain } from './explain.ts'
import { createClient } from './queries.ts'
import { createConsoleRouter, goToSignIn } from './routes.tsx'
import { cssVariables, theme } from './theme.ts'

/** Style elements made at run time carry the nonce that the server put into the page. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
// Read by `get-nonce`, with which overlays lock the page's scrolling.
Object.assign(globalThis, { __webpack_nonce__: nonce })

const colorSchemes = localStorageColorSchemeManager()

function createParts() {
  const client = createClient({
    signedOut: () => goToSignIn(router),
    failed: (error) => notifications.show({ message: explain(error), color: 'red', autoClose: 8_000 }),
  })
  const router = createConsoleRouter(client)
  return { client, router }
}

export function App() {
  const [{ client, router }] = useState(createParts)
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      colorSchemeManager={colorSchemes}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
      deduplicateInlineStyles
    >
      <QueryClientProvider client={client}>
        <Notifications position="top-right" />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}
