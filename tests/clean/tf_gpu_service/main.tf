# An inference service on one GPU type, with its capacity in a module.

module "l40s" {
  source = "./modules/gpu_capacity"

  name             = "${var.project}-l40s"
  cluster_name     = var.cluster_name
  instance_type    = "g6e.2xlarge"
  subnet_ids       = var.private_subnet_ids
  security_groups  = [aws_security_group.hosts.id]
  instance_profile = var.instance_profile_arn
  max_size         = 6
}

resource "aws_ecs_cluster_capacity_providers" "this" {
  cluster_name       = var.cluster_name
  capacity_providers = [module.l40s.capacity_provider_name]
}

resource "aws_security_group" "hosts" {
  name_prefix = "${var.project}-hosts-"
  description = "GPU hosts"
  vpc_id      = var.vpc_id

  egress {
    description = "updates, images, model weights"
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = [var.vpc_cidr]
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_security_group" "tasks" {
  name_prefix = "${var.project}-tasks-"
  description = "model server tasks"
  vpc_id      = var.vpc_id

  ingress {
    description     = "from the load balancer"
    from_port       = 8000
    to_port         = 8000
    protocol        = "tcp"
    security_groups = [var.alb_security_group_id]
  }
}

resource "aws_cloudwatch_log_group" "server" {
  name              = "/ecs/${var.project}"
  retention_in_days = 30
}

resource "aws_ecs_task_definition" "server" {
  family                   = var.project
  requires_compatibilities = ["EC2"]
  network_mode             = "awsvpc"
  task_role_arn            = var.task_role_arn
  execution_role_arn       = var.execution_role_arn

  runtime_platform {
    cpu_architecture        = "X86_64"
    operating_system_family = "LINUX"
  }

  volume {
    name      = "models"
    host_path = "/mnt/nvme/models"
  }

  container_definitions = jsonencode([
    {
      name      = "server"
      image     = var.server_image
      essential = true
      cpu       = 7168
      memory    = 57344
      command   = ["--model", "/models/current", "--port", "8000"]
      resourceRequirements = [
        { type = "GPU", value = "1" }
      ]
      portMappings = [
        { containerPort = 8000, protocol = "tcp", name = "http" }
      ]
      linuxParameters = {
        initProcessEnabled = true
        sharedMemorySize   = 8192
      }
      mountPoints = [
        { sourceVolume = "models", containerPath = "/models", readOnly = true }
      ]
      secrets = [
        { name = "API_KEY", valueFrom = var.api_key_secret_arn }
      ]
      healthCheck = {
        command     = ["CMD-SHELL", "curl -fsS http://localhost:8000/health || exit 1"]
        interval    = 30
        timeout     = 5
        retries     = 3
        startPeriod = 300
      }
      stopTimeout = 90
      logConfiguration = {
        logDriver = "awslogs"
        options = {
          "awslogs-group"         = aws_cloudwatch_log_group.server.name
          "awslogs-region"        = var.region
          "awslogs-stream-prefix" = "server"
          "mode"                  = "non-blocking"
          "max-buffer-size"       = "25m"
        }
      }
    }
  ])
}

resource "aws_lb_target_group" "server" {
  name_prefix          = "llm-"
  port                 = 8000
  protocol             = "HTTP"
  target_type          = "ip"
  vpc_id               = var.vpc_id
  deregistration_delay = 120

  health_check {
    path                = "/health"
    interval            = 15
    timeout             = 5
    healthy_threshold   = 2
    unhealthy_threshold = 3
  }
}

resource "aws_ecs_service" "server" {
  name            = var.project
  cluster         = var.cluster_name
  task_definition = aws_ecs_task_definition.server.arn
  desired_count   = 2

  deployment_minimum_healthy_percent = 50
  deployment_maximum_percent         = 100
  health_check_grace_period_seconds  = 900

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  capacity_provider_strategy {
    capacity_provider = module.l40s.capacity_provider_name
    weight            = 1
  }

  network_configuration {
    subnets          = var.private_subnet_ids
    security_groups  = [aws_security_group.tasks.id]
    assign_public_ip = false
  }

  load_balancer {
    target_group_arn = aws_lb_target_group.server.arn
    container_name   = "server"
    container_port   = 8000
  }

  lifecycle {
    ignore_changes = [desired_count]
  }
}
