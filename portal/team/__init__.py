"""Who is a member of an account, as what, and how people come and go. Decision record 0018."""
