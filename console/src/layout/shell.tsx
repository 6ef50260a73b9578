/** The frame around every page: navigation, search, who one is. */
import { AppShell, Burger, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useCan, useSession } from '../session.ts'
import { text } from '../text/index.ts'
import { Logo } from './logo.tsx'
import { groups } from './navigation.ts'
import { SearchBox } from './search-box.tsx'
import classes from './shell.module.css'
import { UserMenu } from './user-menu.tsx'

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const pathname = useLocation({ select: (location) => location.pathname })
  const { company } = useSession()
  useEffect(close, [pathname, close])
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
      classNames={{
        navbar: classes['navbar'] ?? '',
        header: classes['header'] ?? '',
        main: classes['main'] ?? '',
      }}
    >
      <a className={classes['skip']} href="#content">
        {text.common.skip}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap" justify="space-between">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={isOpen ? text.navigation.close : text.navigation.open}
            />
            <Link to="/" className={classes['brand']} aria-label={text.navigation.home}>
              <Logo />
              <Text fw={700} visibleFrom="xs" component="span">
                {text.common.product}
              </Text>
            </Link>
            <Text c="dimmed" size="sm" truncate visibleFrom="md" title={company.name ?? undefined}>
              {company.name}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap" className={classes['tools']}>
            <SearchBox />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar>
        <Navigation />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  )
}

function Navigation() {
  const can = useCan()
  const shown = groups
    .map((group) => ({ ...group, entries: group.entries.filter(({ needs }) => can(needs)) }))
    .filter(({ entries }) => entries.length > 0)
  return (
    <nav aria-label={text.navigation.main} className={classes['nav']}>
      {shown.map(({ label, entries }) => (
        <section key={label} aria-label={label}>
          <Text className={classes['group']}>{label}</Text>
          <ul>
            {entries.map(({ to, label: name, icon: Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  className={classes['entry']}
                  activeOptions={{ exact: to === '/', includeSearch: false }}
                >
                  <Icon size={18} stroke={1.6} aria-hidden />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}
